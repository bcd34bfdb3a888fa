"""Governance: policies and what they find, waivers, and breaking changes that wait for approval."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, insert, update

from treaty.compatibility import KINDS
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import Violation
from treaty.governance.lint import RULES
from treaty.governance.waivers import parse_waiver
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.documents import Prepared
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
from treaty.registry.service import approvals, proposals
from treaty.registry.service import policies as above
from treaty.registry.service.context import Context, Document
from treaty.registry.store import search, waivers
from treaty.registry.store.tables import waivers as table
from treaty.registry.store.transaction import Transaction


class Governance:
    """The governance of a registry."""

    def __init__(self, desk: Context) -> None:
        self._desk = desk

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind those below them."""
        check_limit(limit)
        (start,) = after(cursor, "")
        found = self._desk.read(lambda it: search.policies(it, self._desk.now, str(start), limit + 1))
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
        return page_of([answer(row) for row in rows], limit, lambda one: (one.id,))

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
        return self._desk.write(lambda it: waive(it, self._desk.actor, asked))

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its day."""
        return self._desk.write(lambda it: revoke(it, self._desk.actor, identity))

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: proposals.page(it, state, int(start), limit + 1))
        return page_of(found, limit, lambda one: (one.id,))

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; one's own only as an override with a reason."""
        desk = self._desk
        return desk.write(lambda it: approvals.approve(it, desk.actor, desk.rules, proposal, reason, override))

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Turn a proposed version down, or take one's own back."""
        return self._desk.write(lambda it: approvals.decline(it, self._desk.actor, proposal, reason))


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


_KNOWN = frozenset(KINDS) | {"owner_missing"}


def waive(transaction: Transaction, actor: Actor, asked: Mapping[str, Any]) -> WaiverAnswer:
    """Grant a waiver; it must end, and its owner and reason are kept."""
    waiver = parse_waiver(asked, _KNOWN | frozenset(RULES))
    authorize(actor, Action.WAIVE, Resource("rule", waiver.rule))
    if not waiver.holds(transaction.now.date()):
        raise InvalidDocument(f"the waiver would have ended on {waiver.until}; choose a day to come")
    said = {"owner": waiver.owner, "reason": waiver.reason, "until": str(waiver.until), "path": waiver.path}
    identity = transaction.record(
        actor.name, "waiver.grant", f"{waiver.rule} on {waiver.contract}", after=said, details=said
    )
    values: dict[str, Any] = {
        "id": identity,
        "rule": waiver.rule,
        "contract": waiver.contract,
        "path": waiver.path,
        "owner": waiver.owner,
        "reason": waiver.reason,
        "until": waiver.until,
        "granted_at": transaction.now,
        "granted_by": actor.name,
    }
    transaction.write(insert(table).values(values))
    return WaiverAnswer(**values)


def revoke(transaction: Transaction, actor: Actor, identity: int) -> WaiverAnswer:
    """End a waiver before its day."""
    row = waivers.find(transaction.connection, identity)
    authorize(actor, Action.WAIVE, Resource("rule", row.rule))
    if row.revoked_at is None:
        transaction.record(
            actor.name,
            "waiver.revoke",
            f"{row.rule} on {row.contract}",
            before={"owner": row.owner, "reason": row.reason, "until": str(row.until), "path": row.path},
            details={"waiver": identity},
        )
        transaction.write(update(table).where(table.c.id == identity).values(revoked_at=transaction.now))
    return answer(waivers.find(transaction.connection, identity))


def answer(row: Row[Any]) -> WaiverAnswer:
    """Return a waiver in the words of the API."""
    return WaiverAnswer(**row._mapping)
