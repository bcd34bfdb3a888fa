"""What a search looks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; every part that is given must fit."""

    text: str | None = None
    name: str | None = None
    field: str | None = None
    owner: str | None = None
    domain: str | None = None
    tag: str | None = None
    tier: str | None = None
    status: str | None = None
    health: str | None = None
    """How its promises are kept: healthy, warning or failing; none where nothing was judged."""
