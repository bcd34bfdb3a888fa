"""One migration: who stands where, what was proven, and what to run next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from shlex import quote
from typing import Any

from treaty.catalog import links
from treaty.catalog.contacts import Contact, make_contact, safe_address
from treaty.catalog.formatting import pluralize
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.catalog.svg.charts import Part, share, stacked_bar
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationConsumerAnswer

EFFECTS = {
    "hit": ("failing", "hit: a field it reads changes"),
    "unknown": ("warning", "unknown: it names no fields"),
    "safe": ("healthy", "safe: it reads none of what changes"),
}
_WAYS = {"back": "the old shape, from new rows", "forward": "the new shape, from old rows"}
_MOST_FIELDS = 30


@dataclass(frozen=True)
class Standing:
    """Where one consumer stands, as the page draws it."""

    one: MigrationConsumerAnswer
    is_missing: bool
    effect_state: str
    effect_words: str
    contact: Contact | None
    fields: tuple[str, ...]
    more_fields: int


@dataclass(frozen=True)
class Shim:
    """What running one shim on rows showed."""

    words: str
    object: str
    holds: bool
    rows: str
    trouble: tuple[str, ...]


def migration_page(source: Source, number: int, today: date) -> Page:
    """Return the page of one migration."""
    board = source.migrations.get(number)
    teams = known_teams(source)
    order = {name: place for place, name in enumerate(reversed(STANDINGS))}
    consumers = sorted(board.consumers, key=lambda one: (order[one.state], not one.critical, one.consumer))
    return Page(
        links.migration(number),
        "migration.html",
        f"{board.before} → {board.after}",
        "changes",
        {
            "move": summarize_migration(board, today, teams),
            "known_teams": teams,
            "board": board,
            "standings": STANDINGS,
            "meanings": MEANINGS,
            "consumers": tuple(_standing(one, board.missing) for one in consumers),
            "shims": tuple(_shims(board.proof or {})),
            "proof_at": _text((board.proof or {}).get("at")),
            "commands": tuple(_commands(board)),
        },
        assets=("changes.css", "actions.css"),
    )


def _standing(one: MigrationConsumerAnswer, missing: list[str]) -> Standing:
    state, words = EFFECTS[one.effect]
    call = make_contact(one.team or one.consumer, one.contact) if one.contact else None
    more = max(0, len(one.fields) - _MOST_FIELDS)
    return Standing(one, one.consumer in missing, state, words, call, tuple(one.fields[:_MOST_FIELDS]), more)


def _commands(board: BoardAnswer) -> Iterator[tuple[str, str]]:
    """Yield what somebody may run next, with a consumer who is still to act as the example."""
    waiting = [one.consumer for one in board.consumers if one.state == "waiting"]
    left = waiting + [one.consumer for one in board.consumers if one.state == "acknowledged"]
    silent = [name for name in board.missing if name in waiting] or waiting
    between = f"{quote(f'{board.contract}@{board.before_version}')} {quote(f'{board.contract}@{board.after_version}')}"
    if board.state in ("proposed", "open") and silent:
        yield "Say that a consumer knows of the change", f"treaty migrate acknowledge {board.id} {quote(silent[0])}"
    if board.state == "open":
        of = f" --consumer {quote(left[0])}" if left else ""
        yield "See what changes for a consumer, and the old shape as a view", f"treaty migrate plan {between}{of}"
        if left:
            yield "Move a consumer to the new line", f"treaty migrate move {board.id} {quote(left[0])}"
        yield "Try the shims on rows, and keep the proof here", f"treaty migrate prove {between} --record"
    yield "See the same board in a terminal", f"treaty migrate status {board.id}"


def _shims(proof: dict[str, Any]) -> Iterator[Shim]:
    """Yield what a proof says; it came from outside, so nothing is taken for granted."""
    listed = proof.get("shims")
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        way = str(one.get("way"))
        yield Shim(
            _WAYS.get(way, way[:40]), str(one.get("object"))[:200], one.get("holds") is True, _rows(one), _trouble(one)
        )


def _rows(shim: dict[str, Any]) -> str:
    rows = shim.get("rows")
    if not isinstance(rows, dict):
        return "no rows: no view can be made"
    used, conforming = rows.get("used"), rows.get("conforming")
    return f"{conforming} of {used} rows keep the contract ({str(rows.get('origin'))[:80]})"


def _trouble(shim: dict[str, Any]) -> tuple[str, ...]:
    fields = shim.get("fields")
    found = [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
    said = [
        f"{str(one.get('field'))[:120]}: {one.get('fidelity')}" + (f", {one['reason']}" if one.get("reason") else "")
        for one in found
        if one.get("holds") is not True or one.get("fidelity") != "exact"
    ]
    blocked = shim.get("blocked")
    return tuple([*map(str, blocked if isinstance(blocked, list) else ()), *said][:50])


def _text(value: object) -> str | None:
    return value[:40] if isinstance(value, str) else None


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
class MigrationSummary:
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


def summarize_migration(one: MigrationAnswer, today: date, teams: frozenset[str] = frozenset()) -> MigrationSummary:
    """Return a migration as boards draw it."""
    counts = {name: one.counts.get(name, 0) for name in STANDINGS}
    left = counts["waiting"] + counts["acknowledged"]
    proof_state, proof_words = _PROOFS[one.proven]
    return MigrationSummary(
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
        parts=stacked_bar(counts),
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
        said = f"ended {pluralize(-days, 'day')} ago"
        return Window("failing" if left else "healthy", said, one.ends_on, 100.0)
    said = "ends today" if days == 0 else f"{pluralize(days, 'day')} left"
    return Window("warning" if left and days <= _SOON else "healthy", said, one.ends_on, filled)


def proposals_page(source: Source) -> Page:
    """Return the open proposals."""
    still = iterate_pages(lambda cursor, limit: source.governance.proposals(state="open", cursor=cursor, limit=limit))
    waiting = iterate_pages(lambda cursor, limit: source.migrations.list(state="proposed", cursor=cursor, limit=limit))
    return Page(
        links.proposals(),
        "proposals.html",
        "Proposals",
        "changes",
        {
            "proposals": list(still),
            "migrations": {one.proposal: one for one in waiting if one.proposal is not None},
        },
    )
