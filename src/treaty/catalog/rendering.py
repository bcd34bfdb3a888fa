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
from treaty.catalog import places, words
from treaty.catalog.places import Live, Place, Static
from treaty.observability.states import is_old
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action, Resource, objection

NAME = "Treaty"
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


NOBODY = Visitor()


@dataclass(frozen=True)
class Page:
    """A page before it is drawn: its place, its template, and the values the template draws."""

    place: Place
    template: str
    title: str
    section: str
    """Which entry of the navigation it belongs to."""
    values: Mapping[str, Any] = field(default_factory=dict)
    assets: tuple[str, ...] = ()
    status: int = 200


@dataclass(frozen=True)
class Setting:
    """What pages are drawn for: a server or a folder, a moment, a visitor, and a name for it all."""

    now: datetime
    visitor: Visitor = NOBODY
    is_static: bool = False
    name: str = NAME
    as_of: datetime | None = None
    """When the newest change that a static site shows was made; its front page says so."""


def render(page: Page, setting: Setting) -> str:
    """Draw a page."""
    addresses: Live | Static = Static(page.place) if setting.is_static else Live()
    ways = Ways(addresses)
    return (
        _environment()
        .get_template(page.template)
        .render(
            {
                **page.values,
                "page": page,
                "to": ways,
                "setting": setting,
                "visitor": setting.visitor,
                "live": not setting.is_static,
                "now": setting.now,
                "ago": words.day if setting.is_static else partial(words.ago, now=setting.now),
                "assets": (*ASSETS, *page.assets),
                "treaty_version": treaty.__version__,
                "static_policy": _STATIC_POLICY,
            }
        )
    )


@dataclass(frozen=True)
class Ways:
    """Addresses as templates ask for them: `to.contract(name)`."""

    addresses: Live | Static

    def __getattr__(self, kind: str) -> Any:
        make = getattr(places, kind)
        return lambda *given, **asked: self.addresses.to(make(*given, **asked))

    def place(self, one: Place) -> str:
        """Return the address of a place that is known already."""
        return self.addresses.to(one)

    def asset(self, name: str) -> str:
        """Return the address of an asset; its content is part of it, so that it can be kept for ever."""
        return self.addresses.asset(name, asset_digest(name))


@cache
def asset(name: str) -> bytes:
    """Return the content of a file that pages need."""
    return (files("treaty.catalog") / "assets" / name).read_bytes()


@cache
def asset_digest(name: str) -> str:
    """Return a short digest of an asset."""
    return sha256(asset(name)).hexdigest()[:12]


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
        finalize=words.shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"day": words.day, "moment": words.moment}
    environment.globals |= {"counted": words.counted, "is_old": is_old}
    return environment
