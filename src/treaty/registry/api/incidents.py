"""The interface for incidents and the health of contracts."""

from __future__ import annotations

from typing import Protocol

from treaty.registry.model import ContractHealthAnswer, HealthAnswer, IncidentAnswer, Page
from treaty.registry.model.page import PAGE


class IncidentsApi(Protocol):
    """Incidents, and the one health state of each contract."""

    def list(
        self,
        *,
        contract: str | None = None,
        state: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[IncidentAnswer]:
        """List incidents, the newest first, optionally of one contract, owning team or state (open or closed)."""
        ...

    def get(self, incident: int) -> IncidentAnswer:
        """Return one incident."""
        ...

    def acknowledge(self, incident: int, *, reason: str) -> IncidentAnswer:
        """Acknowledge an open incident with a reason; it is not escalated any more, and closes by itself."""
        ...

    def health(self, contract: str) -> ContractHealthAnswer:
        """Return the health of a contract or line, with its incidents and service levels."""
        ...

    def overview(self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE) -> Page[HealthAnswer]:
        """List the health of the measured contracts, the worst first, optionally of one state."""
        ...
