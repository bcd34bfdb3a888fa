"""Governance: policies, waivers, and breaking changes that wait for approval."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from treaty.compatibility import KINDS, Mode
from treaty.errors import Conflict, InvalidDocument, Refused
from treaty.governance.inheritance import Violation
from treaty.governance.lint import RULES
from treaty.governance.waivers import parse_waiver
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import GovernanceApi
from treaty.registry.documents import Document, PreparedDocument, prepare
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
from treaty.registry.rules import RegistryRules
from treaty.registry.service import judgement, migration_status
from treaty.registry.service.context import Context
from treaty.registry.service.proposals import parse_proposal_state
from treaty.registry.service.registration import register_approved
from treaty.registry.store import Connection, governance_records, migration_records, search, versions
from treaty.registry.store.governance_records import ProposalRecord, ProposalState
from treaty.registry.store.migration_records import MigrationState
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
            lambda transaction: approve(transaction, context.actor, context.rules, proposal, reason, override)
        )

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        return self._context.write(lambda transaction: decline(transaction, self._context.actor, proposal, reason))


def _policy_check(connection: Connection, candidate: PreparedDocument, today: date) -> PolicyCheckAnswer:
    contract = candidate.contract
    policies = judgement.policies_above(connection, contract)
    held = judgement.weakened_terms(connection, contract, policies, today)
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
            for child in judgement.children_in_breach(connection, contract)
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


def approve(
    transaction: Transaction, actor: Actor, rules: RegistryRules, identity: int, reason: str | None, override: bool
) -> ProposalAnswer:
    """Register a proposed version; the proposer needs an override with a reason, which is recorded."""
    row = _open(transaction, identity)
    _check(transaction, actor, row, reason, Action.OVERRIDE if override else Action.APPROVE)
    silent = _silent(transaction, rules, identity)
    if silent and not override:
        raise Refused(
            f"{row.contract} {row.version} waits for acknowledgement by {', '.join(silent)}: "
            "treaty migrate acknowledge; a steward may override it with a reason"
        )
    transaction.record(
        actor.name,
        "proposal.override" if override else "proposal.approve",
        f"{row.contract} {row.version}",
        before={"state": row.state},
        after={"state": "approved", "reason": reason},
        details={"proposal": identity, "reason": reason, "proposed_by": row.proposed_by, "unacknowledged": silent},
    )
    register_approved(
        transaction,
        row.proposed_by,
        rules,
        prepare(row.document, row.media, rules.limits),
        Mode(row.mode),
    )
    governance_records.decide_proposal(transaction, identity, ProposalState.APPROVED, actor.name, reason)
    return governance_records.find_proposal(transaction.connection, identity).answer


def decline(transaction: Transaction, actor: Actor, identity: int, reason: str | None) -> ProposalAnswer:
    """Decline a proposed version; the proposer may withdraw it."""
    row = _open(transaction, identity)
    own = actor.name == row.proposed_by
    _check(transaction, actor, row, reason, Action.REGISTER if own else Action.APPROVE)
    transaction.record(
        actor.name,
        "proposal.decline",
        f"{row.contract} {row.version}",
        before={"state": row.state},
        after={"state": "declined", "reason": reason},
        details={"proposal": identity, "reason": reason, "proposed_by": row.proposed_by},
    )
    governance_records.decide_proposal(transaction, identity, ProposalState.DECLINED, actor.name, reason)
    waiting = migration_records.proposed_as(transaction.connection, identity)
    if waiting is not None:
        migration_records.change(
            transaction, waiting.id, state=MigrationState.WITHDRAWN.value, closed_at=transaction.now
        )
    return governance_records.find_proposal(transaction.connection, identity).answer


def _silent(transaction: Transaction, rules: RegistryRules, identity: int) -> list[str]:
    """Return the critical consumers that have not acknowledged a proposal."""
    waiting = migration_records.proposed_as(transaction.connection, identity)
    if waiting is None:
        return []
    statuses = migration_status.consumer_statuses(transaction.connection, rules, waiting, transaction.now.date())
    return migration_status.missing_acknowledgements(rules, statuses)


def _open(transaction: Transaction, identity: int) -> ProposalRecord:
    row = governance_records.find_proposal(transaction.connection, identity)
    if row.state != ProposalState.OPEN:
        raise Conflict(f"proposal {identity} was {row.state} by {row.decided_by}")
    return row


def _check(transaction: Transaction, actor: Actor, row: ProposalRecord, reason: str | None, action: Action) -> None:
    owned = versions.highest(transaction.connection, row.contract)
    teams = owned.teams if owned else frozenset()
    authorize(actor, action, Resource("proposal", f"{row.contract} {row.version}", teams, row.proposed_by), reason)
