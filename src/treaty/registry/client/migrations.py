"""Migrations, over HTTP: where consumers stand on their way to the next line, and the way over itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from treaty.registry.answers import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.client.addresses import API
from treaty.registry.client.wire import Wire
from treaty.registry.pages import PAGE, check_limit

_MIGRATIONS = f"{API}/migrations"


class Migrations:
    """The migrations of a registry."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

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
        asked = {"contract": contract, "state": state, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_MIGRATIONS, Page[MigrationAnswer], asked)

    def get(self, migration: int) -> BoardAnswer:
        """Return one migration with where each consumer stands, and its proof."""
        return self._wire.get(f"{_MIGRATIONS}/{migration:d}", BoardAnswer)

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Say that a consumer knows of the change; the last word that was waited for lets the version in."""
        return self._said(migration, "acknowledge", {"consumer": consumer, "note": note})

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Let a consumer read the new line instead of the old one."""
        return self._said(migration, "move", {"consumer": consumer, "fields": None if fields is None else [*fields]})

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Go on without a consumer, for a reason, until a day."""
        return self._said(migration, "waive", {"consumer": consumer, "reason": reason, "until": until.isoformat()})

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Keep what running the shims on rows showed."""
        return self._said(migration, "proof", {"proof": dict(proof)})

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the way over between two versions, with a guide for each consumer of the old line."""
        asked = {"contract": contract, "before": before, "after": after_}
        return self._wire.get(f"{API}/migration-path", MigrationPathAnswer, asked)

    def _said(self, migration: int, what: str, values: dict[str, Any]) -> BoardAnswer:
        return self._wire.change("POST", f"{_MIGRATIONS}/{migration:d}/{what}", BoardAnswer, values)
