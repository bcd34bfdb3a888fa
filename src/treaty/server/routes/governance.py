"""Routes for policies, namespaces, waivers and proposals."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query, Request
from fastapi.responses import Response

from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    ContractAnswer,
    DetokenisationAnswer,
    KeyErasureAnswer,
    NamespaceAnswer,
    Page,
    PolicyCheckAnswer,
    ProposalAnswer,
    WaiverAnswer,
)
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.openapi import CONTRACT_BODY
from treaty.server.rate_limits import Cost
from treaty.server.request_documents import judge, read_candidate
from treaty.server.request_models import (
    DecisionBody,
    DeclineBody,
    DetokenisationBody,
    KeyErasureBody,
    NamespaceBody,
    WaiverBody,
)
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("governance", API)
Number = Annotated[int, Path(ge=1, lt=2**63)]


@routes.get("/policies", Action.READ)
def list_policies(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[ContractAnswer]:
    """List policies: contracts whose terms apply to the contracts below them."""
    return registry.governance.policies(cursor=cursor, limit=limit)


@routes.post(
    "/policies/check", Action.CHECK, cost=Cost.EXPENSIVE, response_model=PolicyCheckAnswer, openapi_extra=CONTRACT_BODY
)
async def check_policies(registry: CallerRegistry, request: Request) -> Response:
    """List terms that are weaker than the policies require; for a policy, also the contracts it would affect."""
    candidate = await read_candidate(request)
    return await judge(request, candidate.document, lambda: registry.governance.check_policies(candidate.document))


@routes.get("/namespaces", Action.READ)
def list_namespaces(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[NamespaceAnswer]:
    """List namespaces: prefixes of ids and the teams that they belong to."""
    return registry.governance.namespaces(cursor=cursor, limit=limit)


@routes.put("/namespaces", Action.GOVERN, (409,))
def assign_namespace(registry: CallerRegistry, body: NamespaceBody) -> NamespaceAnswer:
    """Give a namespace to a team. Only its members and stewards can register new contracts in it."""
    return registry.governance.assign_namespace(body.prefix, body.team)


@routes.delete("/namespaces", Action.GOVERN, (404,))
def release_namespace(
    registry: CallerRegistry, prefix: Annotated[str, Query(min_length=1, max_length=200)]
) -> NamespaceAnswer:
    """Take a namespace from its team."""
    return registry.governance.release_namespace(prefix)


@routes.post("/lines/{line:path}/erasures", Action.NOTIFY, (404,))
def record_erasure(registry: CallerRegistry, line: str, body: KeyErasureBody) -> KeyErasureAnswer:
    """Record in the audit log that a key was erased from the tables of a pipeline. The key is not recorded."""
    return registry.governance.record_erasure(line, fields=body.fields, rows=body.rows, tables=body.tables)


@routes.post("/lines/{line:path}/detokenisations", Action.DETOKENISE, (404,))
def authorize_detokenisation(registry: CallerRegistry, line: str, body: DetokenisationBody) -> DetokenisationAnswer:
    """Ask to turn tokens of a field back into values for a purpose, with the role that the data policy names.

    The audit log records who asked and why. Neither tokens nor values are sent: the caller needs the key.
    """
    return registry.governance.authorize_detokenisation(
        line, field=body.field, purpose=body.purpose, tokens=body.tokens
    )


@routes.get("/waivers", Action.READ)
def list_waivers(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[WaiverAnswer]:
    """List waivers, including expired and revoked ones."""
    return registry.governance.waivers(cursor=cursor, limit=limit)


@routes.post("/waivers", Action.WAIVE, status_code=201)
def grant_waiver(registry: CallerRegistry, body: WaiverBody) -> WaiverAnswer:
    """Waive a finding for a reason, until a date."""
    return registry.governance.waive(
        body.rule, owner=body.owner, reason=body.reason, until=body.until, contract=body.contract, path=body.path
    )


@routes.delete("/waivers/{identity}", Action.WAIVE, (404,))
def revoke_waiver(registry: CallerRegistry, identity: Number) -> WaiverAnswer:
    """Revoke a waiver."""
    return registry.governance.revoke_waiver(identity)


@routes.get("/proposals", Action.READ)
def list_proposals(
    registry: CallerRegistry,
    state: Literal["open", "approved", "declined"] | None = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[ProposalAnswer]:
    """List proposals: breaking versions that need approval."""
    return registry.governance.proposals(state=state, cursor=cursor, limit=limit)


@routes.post("/proposals/{identity}/approve", Action.APPROVE, (404, 409))
def approve_proposal(registry: CallerRegistry, identity: Number, body: DecisionBody) -> ProposalAnswer:
    """Approve a proposal and register its version."""
    return registry.governance.approve(identity, reason=body.reason, override=body.override)


@routes.post("/proposals/{identity}/decline", Action.REGISTER, (404, 409))
def decline_proposal(registry: CallerRegistry, identity: Number, body: DeclineBody) -> ProposalAnswer:
    """Decline a proposal, or withdraw your own."""
    return registry.governance.decline(identity, reason=body.reason)
