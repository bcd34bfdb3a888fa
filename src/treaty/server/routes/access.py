"""Routes for access tokens and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from treaty.registry.access.permissions import Action
from treaty.registry.model import (
    AuditAnswer,
    AuditCheckAnswer,
    ErasureAnswer,
    MintedAnswer,
    Page,
    SessionAnswer,
    TokenAnswer,
)
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.rate_limits import Cost
from treaty.server.request_models import ErasureBody, TokenBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("access", API)
Word = Annotated[str | None, Query(max_length=300)]


@routes.get("/tokens", Action.MANAGE_TOKENS)
def list_tokens(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[TokenAnswer]:
    """List access tokens, without their secrets."""
    return registry.access.tokens(cursor=cursor, limit=limit)


@routes.post("/tokens", Action.MANAGE_TOKENS, (409,), status_code=201)
def create_token(registry: CallerRegistry, request: Request, body: TokenBody) -> MintedAnswer:
    """Create an access token. The response is the only one that contains its secret."""
    minted = registry.access.create_token(
        body.name,
        role=body.role.value,
        team=body.team,
        scopes=[scope.value for scope in body.scopes],
        days=body.days,
        holder=body.holder,
    )
    request.app.state.authenticator.recheck()
    return minted


@routes.delete("/tokens/{identity}", Action.MANAGE_TOKENS, (404,))
def revoke_token(registry: CallerRegistry, identity: str) -> TokenAnswer:
    """Revoke an access token."""
    return registry.access.revoke_token(identity)


@routes.get("/sessions", Action.MANAGE_TOKENS)
def list_sessions(registry: CallerRegistry, cursor: Cursor = None, limit: Limit = PAGE) -> Page[SessionAnswer]:
    """List the browser sessions that have not ended."""
    return registry.access.sessions(cursor=cursor, limit=limit)


@routes.delete("/sessions/{identity}", Action.MANAGE_TOKENS, (404,))
def end_session(registry: CallerRegistry, identity: str) -> SessionAnswer:
    """End a browser session; its user has to sign in again."""
    return registry.access.end_session(identity)


@routes.post("/actors/erase", Action.MANAGE_TOKENS, (404, 409))
def erase_actor(registry: CallerRegistry, body: ErasureBody) -> ErasureAnswer:
    """Erase the name of an actor. The audit log keeps a random id in its place and stays verifiable."""
    return registry.access.erase_actor(body.name, dry_run=body.dry_run)


@routes.get("/audit", Action.AUDIT)
def list_audit(
    registry: CallerRegistry, subject: Word = None, actor: Word = None, cursor: Cursor = None, limit: Limit = PAGE
) -> Page[AuditAnswer]:
    """List audit entries; `subject` matches all subjects that start with it."""
    return registry.access.audit(subject=subject, actor=actor, cursor=cursor, limit=limit)


@routes.get("/audit/verify", Action.AUDIT, cost=Cost.EXPENSIVE)
def verify_audit(
    registry: CallerRegistry,
    head: Annotated[
        str | None, Query(max_length=100, description="A `head` from an earlier check; the log must still contain it.")
    ] = None,
) -> AuditCheckAnswer:
    """Verify the hash chain of the audit log, and every row of the registry against it."""
    return registry.access.verify_audit(head=head)
