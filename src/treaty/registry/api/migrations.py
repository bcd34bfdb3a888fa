"""The interface for migrations of consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.model.page import PAGE


class MigrationsApi(Protocol):
    """The migrations of consumers from one line to the next."""

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
        ...

    def get(self, migration: int) -> BoardAnswer:
        """Return a migration with the state of each consumer and its proof."""
        ...

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Acknowledge a change for a consumer; the last acknowledgement that is missing registers the version."""
        ...

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Move a consumer's subscription from the old line to the new one."""
        ...

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Continue without a consumer, for a reason, until a day."""
        ...

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Store the result of running the shims of a migration on data."""
        ...

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the migration path between two versions, with a guide for each consumer of the old line."""
        ...
