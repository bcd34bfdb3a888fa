"""Governance: policies and what they find, waivers, and breaking changes that wait for approval."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection

from treaty.governance.inheritance import Violation
from treaty.registry import approving, proposing, searching, waiving
from treaty.registry import policies as above
from treaty.registry.access.rules import Action
from treaty.registry.answers import (
    ChildAnswer,
    ContractAnswer,
    Page,
    PolicyCheckAnswer,
    ProposalAnswer,
    ViolationAnswer,
    WaiverAnswer,
)
from treaty.registry.local.desk import Desk, Document
from treaty.registry.pages import PAGE, after, check_limit, page_of
from treaty.registry.preparing import Prepared
from treaty.registry.store import waivers


class Governance:
    """The governance of a registry."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind those below them."""
        check_limit(limit)
        (start,) = after(cursor, "")
        found = self._desk.read(lambda it: searching.policies(it, self._desk.now, str(start), limit + 1))
        return page_of(found, limit, lambda one: (one.id,))

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Say what the policies above a contract find weakened, and whom it would find in breach if it is a policy."""
        candidate = self._desk.prepared(document)
        return self._desk.read(lambda it: _policy_check(it, candidate, self._desk.today), Action.CHECK)

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._desk.read(lambda it: waivers.page(it, int(start), limit + 1))
        return page_of([waiving.answer(row) for row in rows], limit, lambda one: (one.id,))

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Set a finding aside, for a reason, until a day."""
        asked = {
            "rule": rule,
            "owner": owner,
            "reason": reason,
            "until": str(until),
            "contract": contract,
            "path": path,
        }
        return self._desk.write(lambda it: waiving.waive(it, self._desk.actor, asked))

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its day."""
        return self._desk.write(lambda it: waiving.revoke(it, self._desk.actor, identity))

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: proposing.page(it, state, int(start), limit + 1))
        return page_of(found, limit, lambda one: (one.id,))

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; one's own only as an override with a reason."""
        desk = self._desk
        return desk.write(lambda it: approving.approve(it, desk.actor, desk.rules, proposal, reason, override))

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Turn a proposed version down, or take one's own back."""
        return self._desk.write(lambda it: approving.decline(it, self._desk.actor, proposal, reason))


def _policy_check(connection: Connection, candidate: Prepared, today: date) -> PolicyCheckAnswer:
    contract = candidate.contract
    policies = above.policies_above(connection, contract)
    held = above.held_against(connection, contract, policies, today)
    return PolicyCheckAnswer(
        contract=contract.id,
        version=contract.version,
        policies=[f"{policy.id} {policy.version}" for policy in policies],
        violations=[_violation(one.violation, one.waiver.owner if one.waiver else None) for one in held],
        children=[
            ChildAnswer(
                contract=child.contract,
                version=child.version,
                violations=[_violation(one, None) for one in child.violations],
            )
            for child in above.children_in_breach(connection, contract)
        ],
    )


def _violation(one: Violation, waived_by: str | None) -> ViolationAnswer:
    return ViolationAnswer(policy=one.policy, kind=one.kind, path=one.path, message=one.message, waived_by=waived_by)
