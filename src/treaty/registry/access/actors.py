"""Actors, with their roles, scopes and grants."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from treaty.errors import InvalidDocument, NotAllowed


class NotAuthenticated(NotAllowed):
    """Not signed in, or with credentials that are not valid."""


class Role(StrEnum):
    """Roles, from the least to the most permissions."""

    VIEWER = "viewer"
    CONTRIBUTOR = "contributor"
    OWNER = "owner"
    STEWARD = "steward"
    ADMIN = "admin"


class Scope(StrEnum):
    """Scopes limit what a sign-in may be used for, whatever the roles allow."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


PER_TEAM = frozenset({Role.CONTRIBUTOR, Role.OWNER})
"""The roles that are held in a team; the others are held everywhere."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One role, held in a team or everywhere."""

    role: Role
    team: str | None = None

    def __post_init__(self) -> None:
        """Refuse a role without the team it needs, and a team on a role that is held everywhere."""
        if self.role in PER_TEAM and not (self.team and self.team.strip()):
            raise InvalidDocument(f"the role {self.role} is held in a team; name it: {self.role}:growth, or --team")
        if self.role not in PER_TEAM and self.team is not None:
            raise InvalidDocument(f"the role {self.role} is held everywhere, not in team {self.team!r}; leave it out")

    def __str__(self) -> str:
        """Write the grant the way `parse_grant` reads it."""
        return self.role if self.team is None else f"{self.role}:{self.team}"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a request, and how they signed in."""

    name: str
    grants: tuple[Grant, ...]
    scopes: frozenset[Scope]
    via: str
    token: str | None = None
    """The id of the access token, which may be revoked."""
    identity: str = ""
    """Who this is, whatever the name: `ISSUER#SUBJECT`, `token:ID` or `local:NAME`. Two identities are two people."""

    def __post_init__(self) -> None:
        """Identify an actor without an identity of its own by the name and the way it signed in."""
        if not self.identity:
            object.__setattr__(self, "identity", f"{self.via}:{self.name}")


CALENDAR = "calendar"
"""The actor of what happens by date."""

RESERVED_NAMES = frozenset({"local", CALENDAR, "anonymous", "upgrade"})
"""Names that the registry itself acts under."""

ANONYMOUS = Actor("anonymous", (Grant(Role.VIEWER),), frozenset({Scope.READ}), "anonymous")
"""A client that is not signed in, where reading is open."""

NO_ACCESS = Actor("anonymous", (), frozenset(), "anonymous")
"""A client that is not signed in, where reading requires sign-in."""


def local_actor(name: str) -> Actor:
    """Return the actor with direct access to the database, who has every permission."""
    return Actor(name, (Grant(Role.ADMIN),), frozenset(Scope), "local")


def parse_grant(text: str) -> Grant:
    """Read a grant such as `steward` or `owner:growth`."""
    role, colon, team = text.partition(":")
    try:
        known = Role(role)
    except ValueError:
        raise InvalidDocument(f"unknown role {role[:40]!r}; use one of: {', '.join(Role)}") from None
    return Grant(known, team if colon else None)
