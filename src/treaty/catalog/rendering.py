"""Render pages as HTML. All values are escaped, and an undefined template variable is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import treaty
from treaty.catalog import formatting, links
from treaty.catalog.links import Link, LiveUrls, StaticUrls
from treaty.observability.measures import is_stale
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, objection

DEFAULT_SITE_NAME = "Treaty"
"""Name of the catalog if none is configured."""

ASSETS = ("treaty.css", "treaty.js", "theme.js")
"""Assets of every page. A page can add its own."""

_STATIC_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'"
)
"""Content security policy of static pages, on a web server and opened from a folder."""


@dataclass(frozen=True)
class Message:
    """A message shown once, such as the result of an action."""

    kind: str
    """good, warn or bad."""
    text: str


@dataclass(frozen=True)
class Visitor:
    """The user of a page: name if signed in, form token, permissions."""

    name: str | None = None
    can_sign_in: bool = False
    form_token: str | None = None
    """Protects forms against cross-site requests. Without it, the page offers no actions."""
    actor: Actor | None = None
    message: Message | None = None

    def denial(self, action: str, kind: str, name: str, teams: Iterable[str] = ()) -> str | None:
        """Return why this visitor is not allowed to do something, or None if they are."""
        if self.actor is None:
            return "sign in first"
        return objection(self.actor, Action(action), Resource(kind, name, frozenset(teams)))

    @property
    def may_act(self) -> bool:
        """Whether pages offer actions."""
        return self.form_token is not None


ANONYMOUS = Visitor()


@dataclass(frozen=True)
class Page:
    """A page before rendering: its link, template and template values."""

    link: Link
    template: str
    title: str
    section: str
    """The navigation entry to highlight."""
    values: Mapping[str, Any] = field(default_factory=dict)
    assets: tuple[str, ...] = ()
    status: int = 200


@dataclass(frozen=True)
class RenderContext:
    """What rendering depends on besides the page: time, visitor, live or static, name of the catalog."""

    now: datetime
    visitor: Visitor = ANONYMOUS
    is_static: bool = False
    name: str = DEFAULT_SITE_NAME
    as_of: datetime | None = None
    """Time of the last change in a static site, for its front page."""


def render(page: Page, context: RenderContext) -> str:
    """Render a page as HTML."""
    urls: LiveUrls | StaticUrls = StaticUrls(page.link) if context.is_static else LiveUrls()
    return (
        _environment()
        .get_template(page.template)
        .render(
            {
                **page.values,
                "page": page,
                "url": TemplateUrls(urls),
                "context": context,
                "visitor": context.visitor,
                "live": not context.is_static,
                "now": context.now,
                "relative_time": formatting.format_date
                if context.is_static
                else partial(formatting.format_relative, now=context.now),
                "assets": (*ASSETS, *page.assets),
                "treaty_version": treaty.__version__,
                "static_policy": _STATIC_POLICY,
            }
        )
    )


@dataclass(frozen=True)
class TemplateUrls:
    """URLs for templates: `url.contract(name)` calls `links.contract(name)` and returns the URL of that link."""

    urls: LiveUrls | StaticUrls

    def __getattr__(self, kind: str) -> Any:
        make_link = getattr(links, kind)
        return lambda *args, **kwargs: self.urls.url(make_link(*args, **kwargs))

    def link(self, link: Link) -> str:
        """Return the URL of a link that the page already has."""
        return self.urls.url(link)

    def asset(self, name: str) -> str:
        """Return the URL of an asset. It contains a digest of the content, so browsers can cache it forever."""
        return self.urls.asset(name, asset_digest(name))


@cache
def read_asset(name: str) -> bytes:
    """Return the content of an asset."""
    return (files("treaty.catalog") / "assets" / name).read_bytes()


@cache
def asset_digest(name: str) -> str:
    """Return a short digest of an asset."""
    return sha256(read_asset(name)).hexdigest()[:12]


@cache
def asset_names() -> frozenset[str]:
    """Return the names of all assets."""
    return frozenset(file.name for file in (files("treaty.catalog") / "assets").iterdir())


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("treaty.catalog"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=formatting.show_hidden_characters,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "allow_breaks": formatting.allow_breaks,
        "code_spans": formatting.format_code_spans,
        "date": formatting.format_date,
        "datetime": formatting.format_datetime,
        "mark_word": formatting.mark_word,
    }
    environment.globals |= {
        "pluralize": formatting.pluralize,
        "health_sentence": formatting.format_health,
        "is_stale": is_stale,
    }
    return environment
