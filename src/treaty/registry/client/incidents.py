"""Incidents and health over HTTP."""

from __future__ import annotations

from treaty.registry.api import IncidentsApi
from treaty.registry.client.requests import API, contract_path
from treaty.registry.client.transport import Transport
from treaty.registry.model import ContractHealthAnswer, HealthAnswer, IncidentAnswer, Page
from treaty.registry.model.page import PAGE, check_limit

_INCIDENTS = f"{API}/incidents"


class Incidents(IncidentsApi):
    """The incidents of a registry."""

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
    ) -> Page[IncidentAnswer]:
        """List incidents, the newest first, optionally of one contract, owning team or state (open or closed)."""
        check_limit(limit)
        parameters = {"contract": contract, "state": state, "team": team, "cursor": cursor, "limit": limit}
        return self._wire.get(_INCIDENTS, Page[IncidentAnswer], parameters)

    def get(self, incident: int) -> IncidentAnswer:
        """Return one incident."""
        return self._wire.get(f"{_INCIDENTS}/{incident:d}", IncidentAnswer)

    def acknowledge(self, incident: int, *, reason: str) -> IncidentAnswer:
        """Acknowledge an open incident with a reason; it is not escalated any more, and closes by itself."""
        return self._wire.change("POST", f"{_INCIDENTS}/{incident:d}/acknowledge", IncidentAnswer, {"reason": reason})

    def health(self, contract: str) -> ContractHealthAnswer:
        """Return the health of a contract or line, with its incidents and service levels."""
        return self._wire.get(contract_path(contract, "health"), ContractHealthAnswer)

    def overview(self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE) -> Page[HealthAnswer]:
        """List the health of the measured contracts, the worst first, optionally of one state."""
        check_limit(limit)
        parameters = {"state": state, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/health", Page[HealthAnswer], parameters)
