"""Migrations of consumers over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from treaty.registry.api import MigrationsApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.model.page import PAGE, check_limit

_MIGRATIONS = f"{API}/migrations"


class Migrations(MigrationsApi):
    """The migrations of a registry."""

    def __init__(self, wire: Transport) -> None:
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
        """List migrations with the number of consumers in each state, optionally of one contract or team."""
        check_limit(limit)
        parameters = {"contract": contract, "state": state, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_MIGRATIONS, Page[MigrationAnswer], parameters)

    def get(self, migration: int) -> BoardAnswer:
        """Return a migration with the state of each consumer and its proof."""
        return self._wire.get(f"{_MIGRATIONS}/{migration:d}", BoardAnswer)

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Acknowledge a change for a consumer; the last acknowledgement that is missing registers the version."""
        return self._post(migration, "acknowledge", {"consumer": consumer, "note": note})

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Move a consumer's subscription from the old line to the new one."""
        return self._post(migration, "move", {"consumer": consumer, "fields": None if fields is None else [*fields]})

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Continue without a consumer, for a reason, until a day."""
        return self._post(migration, "waive", {"consumer": consumer, "reason": reason, "until": until.isoformat()})

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Store the result of running the shims of a migration on data."""
        return self._post(migration, "proof", {"proof": dict(proof)})

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the migration path between two versions, with a guide for each consumer of the old line."""
        parameters = {"contract": contract, "before": before, "after": after_}
        return self._wire.get(f"{API}/migration-path", MigrationPathAnswer, parameters)

    def _post(self, migration: int, what: str, values: dict[str, Any]) -> BoardAnswer:
        return self._wire.change("POST", f"{_MIGRATIONS}/{migration:d}/{what}", BoardAnswer, values)
