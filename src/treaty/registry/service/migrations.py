"""Migrations: acknowledge, move, waive, prove, and the migration path between two versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from treaty.errors import InvalidDocument
from treaty.registry.api import MigrationsApi
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service import migration_status
from treaty.registry.service.context import Context
from treaty.registry.service.migration_paths import path_answer
from treaty.registry.service.migration_progress import acknowledge, move, record_proof, waive
from treaty.registry.store import Connection, migration_records
from treaty.registry.store.migration_records import MigrationState
from treaty.registry.store.visibility import Visibility

_MAX_TEXT_LENGTH = 2_000


class Migrations(MigrationsApi):
    """The migrations of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def list(
        self,
        *,
        contract: str | None = None,
        state: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[MigrationAnswer]:
        """List migrations with the number of consumers in each state, optionally of one contract or team."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        wanted = _state(state)
        context = self._context

        def read(connection: Connection, visibility: Visibility) -> list[MigrationAnswer]:
            migrations = migration_records.page(connection, visibility, contract, wanted, team, int(start), limit + 1)
            return [
                migration_status.migration_answer(connection, visibility, context.rules, migration, context.today)
                for migration in migrations
            ]

        return page_of(context.read(read), limit, lambda row: (row.id,))

    def get(self, migration: int) -> BoardAnswer:
        """Return a migration with the state of each consumer and its proof."""
        context = self._context

        def read(connection: Connection, visibility: Visibility) -> BoardAnswer:
            stored = migration_records.find(connection, migration, visibility)
            return migration_status.board_answer(connection, visibility, context.rules, stored, context.today)

        return context.read(read)

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Acknowledge a change for a consumer; the last acknowledgement that is missing registers the version."""
        context = self._context
        _check_text(note)
        return context.write(
            lambda transaction: acknowledge(
                transaction, context.actor, context.sight(transaction), context.rules, migration, consumer, note
            )
        )

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Move a consumer's subscription from the old line to the new one."""
        context = self._context
        named = None if fields is None else [*fields]
        return context.write(
            lambda transaction: move(
                transaction, context.actor, context.sight(transaction), context.rules, migration, consumer, named
            )
        )

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Continue without a consumer, for a reason, until a day."""
        context = self._context
        _check_text(reason)
        return context.write(
            lambda transaction: waive(
                transaction,
                context.actor,
                context.sight(transaction),
                context.rules,
                migration,
                consumer,
                reason,
                until,
            )
        )

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Store the result of running the shims of a migration on data."""
        context = self._context
        return context.write(
            lambda transaction: record_proof(
                transaction, context.actor, context.sight(transaction), context.rules, migration, dict(proof)
            )
        )

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the migration path between two versions, with a guide for each consumer of the old line."""
        context = self._context
        return context.read(
            lambda connection, visibility: path_answer(connection, visibility, context.rules, contract, before, after_)
        )


def _state(text: str | None) -> MigrationState | None:
    if text is None:
        return None
    try:
        return MigrationState(text)
    except ValueError:
        known = ", ".join(MigrationState)
        raise InvalidDocument(f"unknown state {text[:40]!r} of migrations; use one of: {known}") from None


def _check_text(text: str | None) -> None:
    if text is not None and (len(text) > _MAX_TEXT_LENGTH or "\x00" in text):
        raise InvalidDocument(f"a note or reason has {_MAX_TEXT_LENGTH:,} characters at most, no NUL")
