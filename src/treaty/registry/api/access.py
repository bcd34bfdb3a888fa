"""The interface for access: tokens, browser sessions and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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


class AccessApi(Protocol):
    """Access tokens and the audit log."""

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
        ...

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens without their secrets."""
        ...

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Revoke a token."""
        ...

    def sessions(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[SessionAnswer]:
        """List the browser sessions that have not ended."""
        ...

    def end_session(self, identity: str) -> SessionAnswer:
        """End a browser session."""
        ...

    def erase_actor(self, name: str, *, dry_run: bool = False) -> ErasureAnswer:
        """Erase the name of an actor from the registry; the audit log keeps its id."""
        ...

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List audit entries, optionally of one actor or of subjects that begin with a text."""
        ...

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check the audit log, the registry against it, and a noted head and the signed checkpoints against the log."""
        ...
