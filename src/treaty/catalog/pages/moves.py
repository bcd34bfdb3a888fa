"""Migrations as boards draw them: from line to line, how much time is left, and how many stand where."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from treaty.catalog.drawing.bars import Part, share, stacked
from treaty.catalog.pages.contract.contacts import safe_address
from treaty.catalog.sources import Source
from treaty.catalog.words import counted
from treaty.registry.answers import MigrationAnswer

STANDINGS = ("moved", "waived", "acknowledged", "waiting")
"""Where a consumer may stand, from what is done to what is to be done."""

MEANINGS = {
    "moved": "reads the new line",
    "waived": "is not waited for, until a day",
    "acknowledged": "knows of it, still reads the old line",
    "waiting": "has said nothing yet",
}
_SOON = 14
_MOST_TEAMS = 1_000
_PROOFS = {
    None: ("none", "not tried on rows"),
    True: ("healthy", "proven on rows"),
    False: ("failing", "shims failed on rows"),
}


@dataclass(frozen=True)
class Window:
    """The time a move has: how much of it is gone, and whether that is a worry."""

    state: str
    words: str
    ends_on: date | None
    filled: float
    note: str | None = None


@dataclass(frozen=True)
class Move:
    """One migration, ready to be drawn."""

    id: int
    contract: str
    before: str
    after: str
    before_version: str
    after_version: str
    state: str
    owner: str | None
    is_team: bool
    """Whether the owner is known as a team, and has a page."""
    guide: str | None
    guide_address: str | None
    parts: tuple[Part, ...]
    total: int
    left: int
    missing: tuple[str, ...]
    window: Window
    proof_state: str
    proof_words: str


def known_teams(source: Source) -> frozenset[str]:
    """Return the teams that have a page, as far as one question tells."""
    return frozenset(one.team for one in source.teams(limit=_MOST_TEAMS).items)


def move(one: MigrationAnswer, today: date, teams: frozenset[str] = frozenset()) -> Move:
    """Return a migration as boards draw it."""
    counts = {name: one.counts.get(name, 0) for name in STANDINGS}
    left = counts["waiting"] + counts["acknowledged"]
    proof_state, proof_words = _PROOFS[one.proven]
    return Move(
        id=one.id,
        contract=one.contract,
        before=one.before,
        after=one.after,
        before_version=one.before_version,
        after_version=one.after_version,
        state=one.state,
        owner=one.owner,
        is_team=one.owner in teams,
        guide=one.guide,
        guide_address=safe_address(one.guide),
        parts=stacked(counts),
        total=sum(counts.values()),
        left=left,
        missing=tuple(one.missing),
        window=_window(one, today, left),
        proof_state=proof_state,
        proof_words=proof_words,
    )


def _window(one: MigrationAnswer, today: date, left: int) -> Window:
    if one.state == "proposed":
        note = f"{one.window} to move once it is" if one.window else None
        return Window("warning" if one.missing else "none", "not let in yet", None, 0.0, note)
    if one.state in ("closed", "withdrawn"):
        return Window("none", one.state, one.ends_on, 100.0)
    if one.ends_on is None:
        return Window("none", "no end is set", None, 0.0)
    begun = one.opened_at.date()
    days = (one.ends_on - today).days
    filled = share((today - begun).days, (one.ends_on - begun).days)
    if days < 0:
        said = f"ended {counted(-days, 'day')} ago"
        return Window("failing" if left else "healthy", said, one.ends_on, 100.0)
    said = "ends today" if days == 0 else f"{counted(days, 'day')} left"
    return Window("warning" if left and days <= _SOON else "healthy", said, one.ends_on, filled)
