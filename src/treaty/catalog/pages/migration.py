"""One migration: who stands where, what was proven, and what to run next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from shlex import quote
from typing import Any

from treaty.catalog import places
from treaty.catalog.pages.contract.contacts import Contact, contact
from treaty.catalog.pages.moves import MEANINGS, STANDINGS, known_teams, move
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source
from treaty.registry.answers import BoardAnswer, MigrationConsumerAnswer

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
        places.migration(number),
        "migration.html",
        f"{board.before} → {board.after}",
        "changes",
        {
            "move": move(board, today, teams),
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
    call = contact(one.team or one.consumer, one.contact) if one.contact else None
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
