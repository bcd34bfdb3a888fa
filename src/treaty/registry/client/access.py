"""Tokens, browser sessions and the audit log over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from treaty.errors import NotFound
from treaty.registry.api import AccessApi
from treaty.registry.client.requests import API
from treaty.registry.client.transport import Transport
from treaty.registry.model import (
    AuditAnswer,
    AuditCheckAnswer,
    ErasureAnswer,
    MintedAnswer,
    Page,
    SessionAnswer,
    TokenAnswer,
)
from treaty.registry.model.page import PAGE, check_limit


class Access(AccessApi):
    """Access tokens and the audit log."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def create_token(
        self,
        name: str,
        *,
        role: str,
        team: str | None = None,
        scopes: Sequence[str] = (),
        days: int | None = None,
        holder: str | None = None,
    ) -> MintedAnswer:
        """Create a token, optionally for another identity; its secret is returned only here."""
        values = {
            "name": name,
            "role": role,
            "team": team,
            "scopes": list(scopes),
            "days": days,
            "holder": holder,
        }
        return self._wire.change("POST", f"{API}/tokens", MintedAnswer, values)

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens without their secrets."""
        check_limit(limit)
        return self._wire.get(f"{API}/tokens", Page[TokenAnswer], {"cursor": cursor, "limit": limit})

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Revoke a token."""
        if not identity.isascii() or not identity.isalnum():
            raise NotFound(f"there is no token {identity!r}; list them with: treaty admin token list")
        return self._wire.change("DELETE", f"{API}/tokens/{quote(identity)}", TokenAnswer)

    def sessions(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[SessionAnswer]:
        """List the browser sessions that have not ended."""
        check_limit(limit)
        return self._wire.get(f"{API}/sessions", Page[SessionAnswer], {"cursor": cursor, "limit": limit})

    def end_session(self, identity: str) -> SessionAnswer:
        """End a browser session."""
        if not identity.isascii() or not identity.isalnum():
            raise NotFound(f"there is no session {identity!r}; list them with: treaty admin session list")
        return self._wire.change("DELETE", f"{API}/sessions/{quote(identity)}", SessionAnswer)

    def erase_actor(self, name: str, *, dry_run: bool = False) -> ErasureAnswer:
        """Erase the name of an actor from the registry; the audit log keeps its id."""
        return self._wire.change("POST", f"{API}/actors/erase", ErasureAnswer, {"name": name, "dry_run": dry_run})

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List audit entries, optionally of one actor or of subjects that begin with a text."""
        check_limit(limit)
        parameters = {"subject": subject, "actor": actor, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/audit", Page[AuditAnswer], parameters)

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check the audit log, the registry against it, and a noted head and the signed checkpoints against the log."""
        return self._wire.get(f"{API}/audit/verify", AuditCheckAnswer, {"head": head})
