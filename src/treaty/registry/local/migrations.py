"""Migrations: where consumers stand on their way to the next line, and the way over itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Connection

from treaty.errors import InvalidDocument
from treaty.registry import boards, migrating
from treaty.registry.answers import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.local.desk import Desk
from treaty.registry.pages import PAGE, after, check_limit, page_of
from treaty.registry.store import moving
from treaty.registry.store.moving import MigrationState
from treaty.registry.ways import path_answer

_LONGEST_TEXT = 2_000


class Migrations:
    """The migrations of a registry."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def list(
        self,
        *,
        contract: str | None = None,
        state: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[MigrationAnswer]:
        """List migrations, of one contract, with consumers of one team, or all, with how many stand where."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        wanted = _state(state)
        desk = self._desk

        def read(it: Connection) -> list[MigrationAnswer]:
            found = moving.page(it, contract, wanted, team, int(start), limit + 1)
            return [boards.migration_answer(it, desk.rules, one, desk.today) for one in found]

        return page_of(desk.read(read), limit, lambda one: (one.id,))

    def get(self, migration: int) -> BoardAnswer:
        """Return one migration with where each consumer stands, and its proof."""
        desk = self._desk
        return desk.read(lambda it: boards.board_answer(it, desk.rules, moving.find(it, migration), desk.today))

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Say that a consumer knows of the change; the last word that was waited for lets the version in."""
        desk = self._desk
        _check_text(note)
        return desk.write(lambda it: migrating.acknowledge(it, desk.actor, desk.rules, migration, consumer, note))

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Let a consumer read the new line instead of the old one."""
        desk = self._desk
        named = None if fields is None else [*fields]
        return desk.write(lambda it: migrating.move(it, desk.actor, desk.rules, migration, consumer, named))

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Go on without a consumer, for a reason, until a day."""
        desk = self._desk
        _check_text(reason)
        return desk.write(lambda it: migrating.waive(it, desk.actor, desk.rules, migration, consumer, reason, until))

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Keep what running the shims on rows showed."""
        desk = self._desk
        return desk.write(lambda it: migrating.record_proof(it, desk.actor, desk.rules, migration, dict(proof)))

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the way over between two versions, with a guide for each consumer of the old line."""
        desk = self._desk
        return desk.read(lambda it: path_answer(it, desk.rules, contract, before, after_, desk.today))


def _state(text: str | None) -> MigrationState | None:
    if text is None:
        return None
    try:
        return MigrationState(text)
    except ValueError:
        known = ", ".join(MigrationState)
        raise InvalidDocument(f"unknown state {text[:40]!r} of migrations; use one of: {known}") from None


def _check_text(text: str | None) -> None:
    if text is not None and (len(text) > _LONGEST_TEXT or "\x00" in text):
        raise InvalidDocument(f"a note or reason has {_LONGEST_TEXT:,} characters at most, no NUL")
