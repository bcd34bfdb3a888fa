"""Governance over HTTP: policies, namespaces, waivers and approvals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from treaty.registry.api import GovernanceApi
from treaty.registry.client.requests import API, document_body, line_path
from treaty.registry.client.transport import Transport
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
from treaty.registry.model.page import PAGE, check_limit

if TYPE_CHECKING:
    from treaty.registry.documents import Document


class Governance(GovernanceApi):
    """The governance of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind the contracts below them."""
        check_limit(limit)
        return self._wire.get(f"{API}/policies", Page[ContractAnswer], {"cursor": cursor, "limit": limit})

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Return the terms that are weaker than the policies above, and the children a policy would put in breach."""
        return self._wire.ask(f"{API}/policies/check", PolicyCheckAnswer, document_body(document))

    def namespaces(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[NamespaceAnswer]:
        """List the namespaces that belong to a team, by prefix."""
        check_limit(limit)
        return self._wire.get(f"{API}/namespaces", Page[NamespaceAnswer], {"cursor": cursor, "limit": limit})

    def assign_namespace(self, prefix: str, team: str) -> NamespaceAnswer:
        """Give a namespace to a team; the answer lists the contracts in it that belong to other teams."""
        values = {"prefix": prefix, "team": team}
        return self._wire.change("PUT", f"{API}/namespaces", NamespaceAnswer, values)

    def release_namespace(self, prefix: str) -> NamespaceAnswer:
        """Take a namespace from its team; any team may register contracts in it again."""
        return self._wire.change("DELETE", f"{API}/namespaces", NamespaceAnswer, parameters={"prefix": prefix})

    def record_erasure(self, line: str, *, fields: Sequence[str], rows: int, tables: Sequence[str]) -> KeyErasureAnswer:
        """Record in the audit log that a key was erased from the tables of a pipeline; the key is not recorded."""
        body = {"fields": list(fields), "rows": rows, "tables": list(tables)}
        return self._wire.change("POST", line_path(line, "erasures"), KeyErasureAnswer, body)

    def authorize_detokenisation(self, line: str, *, field: str, purpose: str, tokens: int) -> DetokenisationAnswer:
        """Allow some tokens of a field to be reversed for a purpose, by those who have the role that the policy names.

        The audit log records who asked, the field, the purpose and the number of tokens.
        """
        body = {"field": field, "purpose": purpose, "tokens": tokens}
        return self._wire.change("POST", line_path(line, "detokenisations"), DetokenisationAnswer, body)

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        check_limit(limit)
        return self._wire.get(f"{API}/waivers", Page[WaiverAnswer], {"cursor": cursor, "limit": limit})

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Waive a finding for a reason until an end date."""
        values = {
            "rule": rule,
            "owner": owner,
            "reason": reason,
            "until": str(until),
            "contract": contract,
            "path": path,
        }
        return self._wire.change("POST", f"{API}/waivers", WaiverAnswer, values)

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its end date."""
        return self._wire.change("DELETE", f"{API}/waivers/{identity:d}", WaiverAnswer)

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        parameters = {"state": state, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/proposals", Page[ProposalAnswer], parameters)

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; the proposer needs an override with a reason."""
        values = {"reason": reason, "override": override}
        return self._wire.change("POST", f"{API}/proposals/{proposal:d}/approve", ProposalAnswer, values)

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        return self._wire.change("POST", f"{API}/proposals/{proposal:d}/decline", ProposalAnswer, {"reason": reason})
