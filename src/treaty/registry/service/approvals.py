"""Approve or decline proposed versions."""

from __future__ import annotations

from treaty.compatibility import Mode
from treaty.errors import Conflict, Refused
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.documents import prepare
from treaty.registry.model import ProposalAnswer
from treaty.registry.rules import RegistryRules
from treaty.registry.service import migration_status
from treaty.registry.service.registration import register_approved
from treaty.registry.store import governance_records, migration_records, versions
from treaty.registry.store.governance_records import ProposalRecord, ProposalState
from treaty.registry.store.migration_records import MigrationState
from treaty.registry.store.transaction import Transaction


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
