"""Requests, and the roles that may make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class May(NamedTuple):
    """Who may make a request, by who owns what it is about."""

    own: frozenset[str]
    other: frozenset[str]
    none: frozenset[str]


def may(own: str, other: str | None = None) -> May:
    """Return who may: roles with any subject, or with that of their own team and with that of others."""
    beyond = frozenset((own if other is None else other).split())
    return May(frozenset(own.split()), beyond, beyond)


EVERYBODY = may("anonymous viewer contributor owner steward admin")
NOBODY = may("")
SIGNED_IN = may("viewer contributor owner steward admin")
SIGNED_IN_TEAMS = may("contributor owner steward admin")
MEMBERS = may("contributor owner steward admin", "steward admin")
OWNERS = may("owner steward admin", "steward admin")
STEWARDS = may("steward admin")
ADMINS = may("admin")


class Asked(NamedTuple):
    """A request that is fine in itself, and who may make it."""

    ask: str
    may: May
    body: Callable[[str], Any] | None = None
    at: str | None = None
    """The path to ask at; the route's own where there is nothing to fill in."""
    form: Callable[[str], dict[str, str]] | None = None
    """The form that a page sends; its values are filled in like a path."""
    refusal: str | None = None
    """What others get in place of 401 and 403."""
    absent: str | None = None
    """What those who may ask get, where the server of the test has nothing to answer with."""
