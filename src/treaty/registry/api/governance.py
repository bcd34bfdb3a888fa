"""The interface for governance: policies, namespaces, waivers and approvals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from treaty.registry.documents import Document
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


class GovernanceApi(Protocol):
    """Policies, waivers, and breaking changes that wait for approval."""

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind the contracts below them."""
        ...

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Return the terms that are weaker than the policies above, and the children a policy would put in breach."""
        ...

    def namespaces(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[NamespaceAnswer]:
        """List the namespaces that belong to a team, by prefix."""
        ...

    def assign_namespace(self, prefix: str, team: str) -> NamespaceAnswer:
        """Give a namespace to a team; the answer lists the contracts in it that belong to other teams."""
        ...

    def release_namespace(self, prefix: str) -> NamespaceAnswer:
        """Take a namespace from its team; any team may register contracts in it again."""
        ...

    def record_erasure(self, line: str, *, fields: Sequence[str], rows: int, tables: Sequence[str]) -> KeyErasureAnswer:
        """Record in the audit log that a key was erased from the tables of a pipeline; the key is not recorded."""
        ...

    def authorize_detokenisation(self, line: str, *, field: str, purpose: str, tokens: int) -> DetokenisationAnswer:
        """Allow some tokens of a field to be reversed for a purpose, by those who have the role that the policy names.

        The audit log records who asked, the field, the purpose and the number of tokens.
        """
        ...

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        ...

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Waive a finding for a reason until an end date."""
        ...

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its end date."""
        ...

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        ...

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; the proposer needs an override with a reason."""
        ...

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        ...
