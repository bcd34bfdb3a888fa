"""Access, over HTTP: tokens, and the audit log of who did what."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from treaty.errors import NotFound
from treaty.registry.answers import AuditAnswer, AuditCheckAnswer, MintedAnswer, Page, TokenAnswer
from treaty.registry.client.addresses import API
from treaty.registry.client.wire import Wire
from treaty.registry.pages import PAGE, check_limit


class Access:
    """Who may come in, and what they did."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create_token(
        self, name: str, *, role: str, team: str | None = None, scopes: Sequence[str] = (), days: int | None = None
    ) -> MintedAnswer:
        """Give out a token; its secret is shown this once."""
        values = {"name": name, "role": role, "team": team, "scopes": list(scopes), "days": days}
        return self._wire.change("POST", f"{API}/tokens", MintedAnswer, values)

    def tokens(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TokenAnswer]:
        """List tokens, without their secrets."""
        check_limit(limit)
        return self._wire.get(f"{API}/tokens", Page[TokenAnswer], {"cursor": cursor, "limit": limit})

    def revoke_token(self, identity: str) -> TokenAnswer:
        """Take a token back."""
        if not identity.isascii() or not identity.isalnum():
            raise NotFound(f"there is no token {identity!r}; list them with: treaty token list")
        return self._wire.change("DELETE", f"{API}/tokens/{quote(identity)}", TokenAnswer)

    def audit(
        self, *, subject: str | None = None, actor: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[AuditAnswer]:
        """List who did what; a subject stands for all that begins with it."""
        check_limit(limit)
        asked = {"subject": subject, "actor": actor, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/audit", Page[AuditAnswer], asked)

    def verify_audit(self, *, head: str | None = None) -> AuditCheckAnswer:
        """Check that the audit log is whole; a head that was kept must still be in it."""
        return self._wire.get(f"{API}/audit/verify", AuditCheckAnswer, {"head": head})
