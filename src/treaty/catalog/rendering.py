"""Pages become HTML here, and nowhere else: everything is escaped, and what is not there is an error."""

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
"""What the pages are called, unless they are given a name."""

ASSETS = ("treaty.css", "treaty.js", "theme.js")
"""What every page loads; a page names what it needs besides."""

_STATIC_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'"
)
"""What a browser lets a static page do, from a web server and from a folder alike."""


@dataclass(frozen=True)
class Message:
    """What a page says once: how something went that was done a moment ago."""

    kind: str
    """good, warn or bad."""
    words: str


@dataclass(frozen=True)
class Visitor:
    """Who looks at a page: their name if they signed in, and what their forms carry."""

    name: str | None = None
    can_sign_in: bool = False
    form_token: str | None = None
    """Proves that a form was made by this server for this visitor; without it nothing can be done from the page."""
    actor: Actor | None = None
    message: Message | None = None

    def may_not(self, action: str, kind: str, name: str, teams: Iterable[str] = ()) -> str | None:
        """Say why this visitor may not do something, and who may; None where they may."""
        if self.actor is None:
            return "sign in first"
        return objection(self.actor, Action(action), Resource(kind, name, frozenset(teams)))

    @property
    def may_act(self) -> bool:
        """Whether pages show what can be done from them."""
        return self.form_token is not None


ANONYMOUS = Visitor()


@dataclass(frozen=True)
class Page:
    """A page before it is drawn: its place, its template, and the values the template draws."""

    place: Link
    template: str
    title: str
    section: str
    """Which entry of the navigation it belongs to."""
    values: Mapping[str, Any] = field(default_factory=dict)
    assets: tuple[str, ...] = ()
    status: int = 200


@dataclass(frozen=True)
class RenderContext:
    """What pages are drawn for: a server or a folder, a moment, a visitor, and a name for it all."""

    now: datetime
    visitor: Visitor = ANONYMOUS
    is_static: bool = False
    name: str = DEFAULT_SITE_NAME
    as_of: datetime | None = None
    """When the newest change that a static site shows was made; its front page says so."""


def render(page: Page, setting: RenderContext) -> str:
    """Draw a page."""
    urls: LiveUrls | StaticUrls = StaticUrls(page.place) if setting.is_static else LiveUrls()
    return (
        _environment()
        .get_template(page.template)
        .render(
            {
                **page.values,
                "page": page,
                "url": TemplateUrls(urls),
                "setting": setting,
                "visitor": setting.visitor,
                "live": not setting.is_static,
                "now": setting.now,
                "relative_time": formatting.format_date
                if setting.is_static
                else partial(formatting.format_relative, now=setting.now),
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
        """Return the URL of a link that the page already holds."""
        return self.urls.url(link)

    def asset(self, name: str) -> str:
        """Return the URL of an asset. It contains a digest of the content, so browsers can cache it forever."""
        return self.urls.asset(name, asset_digest(name))


@cache
def read_asset(name: str) -> bytes:
    """Return the content of a file that pages need."""
    return (files("treaty.catalog") / "assets" / name).read_bytes()


@cache
def asset_digest(name: str) -> str:
    """Return a short digest of an asset."""
    return sha256(read_asset(name)).hexdigest()[:12]


@cache
def asset_names() -> frozenset[str]:
    """Return the names of all assets."""
    return frozenset(one.name for one in (files("treaty.catalog") / "assets").iterdir())


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
    environment.filters |= {"date": formatting.format_date, "datetime": formatting.format_datetime}
    environment.globals |= {"pluralize": formatting.pluralize, "is_old": is_stale}
    return environment
