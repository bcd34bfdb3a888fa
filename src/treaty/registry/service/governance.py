"""Governance: policies, waivers, and breaking changes that wait for approval."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from treaty.compatibility import KINDS
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import Violation
from treaty.governance.lint import RULES
from treaty.governance.waivers import parse_waiver
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import GovernanceApi
from treaty.registry.documents import Document, PreparedDocument
from treaty.registry.model import (
    ChildAnswer,
    ContractAnswer,
    Page,
    PolicyCheckAnswer,
    ProposalAnswer,
    ViolationAnswer,
    WaiverAnswer,
)
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service import approvals
from treaty.registry.service import policies as above
from treaty.registry.service.context import Context
from treaty.registry.service.proposals import parse_proposal_state
from treaty.registry.store import Connection, governance_records, search
from treaty.registry.store.transaction import Transaction


class Governance(GovernanceApi):
    """The governance of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind the contracts below them."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection: search.policies(connection, self._context.now, str(start), limit + 1)
        )
        return page_of(rows, limit, lambda row: (row.id,))

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Return the terms that are weaker than the policies above, and the children a policy would put in breach."""
        candidate = self._context.prepared(document)
        return self._context.read(
            lambda connection: _policy_check(connection, candidate, self._context.today), Action.CHECK
        )

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        waivers = self._context.read(
            lambda connection: governance_records.list_waivers(connection, int(start), limit + 1)
        )
        return page_of(waivers, limit, lambda waiver: (waiver.id,))

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Waive a finding for a reason until an end date."""
        parameters = {
            "rule": rule,
            "owner": owner,
            "reason": reason,
            "until": str(until),
            "contract": contract,
            "path": path,
        }
        return self._context.write(lambda transaction: waive(transaction, self._context.actor, parameters))

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its end date."""
        return self._context.write(lambda transaction: revoke(transaction, self._context.actor, identity))

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        wanted = parse_proposal_state(state)
        proposals = self._context.read(
            lambda connection: governance_records.list_proposals(connection, wanted, int(start), limit + 1)
        )
        return page_of(proposals, limit, lambda proposal: (proposal.id,))

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; the proposer needs an override with a reason."""
        context = self._context
        return context.write(
            lambda transaction: approvals.approve(transaction, context.actor, context.rules, proposal, reason, override)
        )

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        return self._context.write(
            lambda transaction: approvals.decline(transaction, self._context.actor, proposal, reason)
        )


def _policy_check(connection: Connection, candidate: PreparedDocument, today: date) -> PolicyCheckAnswer:
    contract = candidate.contract
    policies = above.policies_above(connection, contract)
    held = above.weakened_terms(connection, contract, policies, today)
    return PolicyCheckAnswer(
        contract=contract.id,
        version=contract.version,
        policies=[f"{policy.id} {policy.version}" for policy in policies],
        violations=[_violation(term.violation, term.waiver.owner if term.waiver else None) for term in held],
        children=[
            ChildAnswer(
                contract=child.contract,
                version=child.version,
                violations=[_violation(violation, None) for violation in child.violations],
            )
            for child in above.children_in_breach(connection, contract)
        ],
    )


def _violation(violation: Violation, waived_by: str | None) -> ViolationAnswer:
    return ViolationAnswer(
        policy=violation.policy,
        kind=violation.kind,
        path=violation.path,
        message=violation.message,
        waived_by=waived_by,
    )


_WAIVABLE = frozenset(KINDS) | {"owner_missing"}


def waive(transaction: Transaction, actor: Actor, request: Mapping[str, Any]) -> WaiverAnswer:
    """Grant a waiver with an owner, a reason and an end date."""
    waiver = parse_waiver(request, _WAIVABLE | frozenset(RULES))
    authorize(actor, Action.WAIVE, Resource("rule", waiver.rule))
    if not waiver.holds(transaction.now.date()):
        raise InvalidDocument(f"the waiver would have ended on {waiver.until}; choose a later day")
    details = {"owner": waiver.owner, "reason": waiver.reason, "until": str(waiver.until), "path": waiver.path}
    identity = transaction.record(
        actor.name, "waiver.grant", f"{waiver.rule} on {waiver.contract}", after=details, details=details
    )
    granted = WaiverAnswer(
        id=identity,
        rule=waiver.rule,
        contract=waiver.contract,
        path=waiver.path,
        owner=waiver.owner,
        reason=waiver.reason,
        until=waiver.until,
        granted_at=transaction.now,
        granted_by=actor.name,
    )
    governance_records.add_waiver(transaction, granted)
    return granted


def revoke(transaction: Transaction, actor: Actor, identity: int) -> WaiverAnswer:
    """End a waiver before its end date."""
    waiver = governance_records.find_waiver(transaction.connection, identity)
    authorize(actor, Action.WAIVE, Resource("rule", waiver.rule))
    if waiver.revoked_at is None:
        transaction.record(
            actor.name,
            "waiver.revoke",
            f"{waiver.rule} on {waiver.contract}",
            before={
                "owner": waiver.owner,
                "reason": waiver.reason,
                "until": str(waiver.until),
                "path": waiver.path,
            },
            details={"waiver": identity},
        )
        governance_records.revoke_waiver(transaction, identity)
    return governance_records.find_waiver(transaction.connection, identity)
