"""Routes for incidents and the health of contracts."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import ContractHealthAnswer, HealthAnswer, IncidentAnswer, Page
from treaty.registry.model.incidents import HealthWord
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.request_models import IncidentReasonBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes, ShownRegistry

routes = Routes("incidents", API)
Number = Annotated[int, Path(ge=1, lt=2**63)]
Word = Annotated[str | None, Query(max_length=256)]


@routes.get("/incidents", Action.READ)
def list_incidents(
    registry: CallerRegistry,
    contract: Word = None,
    state: Literal["open", "closed"] | None = None,
    team: Annotated[str | None, Query(max_length=256, description="Only of contracts that this team owns.")] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[IncidentAnswer]:
    """List incidents, newest first."""
    return registry.incidents.list(contract=contract, state=state, team=team, cursor=cursor, limit=limit)


@routes.get("/incidents/{identity}", Action.READ, (404,))
def get_incident(registry: CallerRegistry, identity: Number) -> IncidentAnswer:
    """Return one incident with its evidence, the blocked lines and the consumers that it hits."""
    return registry.incidents.get(identity)


@routes.post("/incidents/{identity}/acknowledge", Action.NOTIFY, (404, 409))
def acknowledge_incident(registry: CallerRegistry, identity: Number, body: IncidentReasonBody) -> IncidentAnswer:
    """Acknowledge an open incident. It is not escalated any more, and closes by itself."""
    return registry.incidents.acknowledge(identity, reason=body.reason)


@routes.get("/health", Action.READ)
def list_health(
    registry: ShownRegistry, state: HealthWord | None = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[HealthAnswer]:
    """List the health of each measured contract with its cause, worst first."""
    return registry.incidents.overview(state=state, cursor=cursor, limit=limit)


@routes.get("/contracts/{contract:path}/health", Action.READ, (404,))
def contract_health(registry: ShownRegistry, contract: str) -> ContractHealthAnswer:
    """Return the health of a contract or line: state, cause, open incidents and service levels."""
    return registry.incidents.health(contract)
