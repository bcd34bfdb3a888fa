"""The owners of a contract and their contacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Owner:
    """A team that owns a contract, and its contact: a channel, pager group or address."""

    team: str
    contact: str | None = None

    def __str__(self) -> str:
        return f"{self.team} ({self.contact})" if self.contact else self.team


def owners_of(declared: tuple[Owner, ...] | None, team: Any, support: Any) -> tuple[Owner, ...]:
    """Return the owners of the `owners` block or, without one, of the ODCS team."""
    if declared is not None:
        return declared
    contact = _first_contact(support)
    if isinstance(team, Mapping):
        if team.get("name"):
            return (Owner(team["name"], contact),)
        team = team.get("members") or ()
    return tuple(
        Owner(name, contact or _address(member.get("username")))
        for member in team or ()
        if not member.get("dateOut") and (name := member.get("name") or member.get("username"))
    )


def _address(username: str | None) -> str | None:
    """Return a user name that is an email address, else None."""
    return username if username and "@" in username else None


def _first_contact(support: Any) -> str | None:
    for channel in support or ():
        reach = channel.get("channel") or channel.get("url")
        if reach:
            return str(reach)
    return None
