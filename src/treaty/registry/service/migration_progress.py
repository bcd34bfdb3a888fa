"""The progress of a migration: consumers acknowledge the change, move or are waived, and a proof is stored."""

from __future__ import annotations

from datetime import date
from typing import Any

from treaty.compatibility import Mode
from treaty.compatibility.migration.proof import contract_digest
from treaty.consumers.subscriptions import Subscription, parse_fields
from treaty.errors import Conflict, InvalidDocument, NotFound, Refused
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.documents import prepare
from treaty.registry.model import BoardAnswer
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import migration_status
from treaty.registry.service.confirmations import HIDDEN_CONSUMER
from treaty.registry.service.migration_paths import fields_in_new_line
from treaty.registry.service.migration_status import ConsumerStatus
from treaty.registry.service.registration import register_approved
from treaty.registry.service.subscriptions import subscribe, unsubscribe
from treaty.registry.store import governance_records, migration_records, versions
from treaty.registry.store.governance_records import ProposalState
from treaty.registry.store.migration_records import ConsumerState, MigrationState, StoredMigration
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, public_sight, sees_consumer, visible_consumers


def acknowledge(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    identity: int,
    consumer: str,
    note: str | None,
) -> BoardAnswer:
    """Acknowledge the change for a consumer; the last missing acknowledgement registers the version."""
    migration, status = _find_consumer(transaction, sight, rules, identity, consumer)
    authorize(actor, Action.SUBSCRIBE, _resource(status))
    if status.state in (ConsumerState.WAITING, ConsumerState.WAIVED):
        _record_state(transaction, actor, migration, status, ConsumerState.ACKNOWLEDGED, reason=note)
    return _register_if_complete(transaction, actor, sight, rules, migration)


def waive(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    identity: int,
    consumer: str,
    reason: str,
    until: date,
) -> BoardAnswer:
    """Continue without a consumer, for a reason, until a day."""
    migration, status = _find_consumer(transaction, sight, rules, identity, consumer)
    authorize(actor, Action.WAIVE, Resource("migration", str(migration.line)))
    if not reason.strip():
        raise InvalidDocument("a waiver needs a reason, which is recorded in the audit log")
    if until < transaction.now.date():
        raise InvalidDocument(f"the waiver would have ended on {until}; choose a day to come")
    _refuse_if_moved(status)
    _record_state(transaction, actor, migration, status, ConsumerState.WAIVED, reason=reason, until=until)
    return _register_if_complete(transaction, actor, sight, rules, migration)


def move(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    identity: int,
    consumer: str,
    fields: list[str] | None,
) -> BoardAnswer:
    """Move the subscription of a consumer to the new line; its fields follow the migration path unless given."""
    migration, status = _find_consumer(transaction, sight, rules, identity, consumer)
    authorize(actor, Action.SUBSCRIBE, _resource(status))
    if migration.state is not MigrationState.OPEN:
        raise Conflict(f"{migration.to_line} is not registered yet; {consumer} can move once it is")
    if status.via is not None:
        raise Conflict(f"{consumer} reads {status.via}, not {migration.line}; acknowledge the change instead")
    if status.subscribed is None:
        return migration_status.board_answer(transaction.connection, sight, rules, migration, transaction.now.date())
    old = status.subscribed.subscription
    read = (
        parse_fields(fields)
        if fields is not None
        else fields_in_new_line(
            migration_status.contracts_of(transaction.connection, rules, migration), rules, old.fields
        )
    )
    new = Subscription(consumer, migration.to_line, old.consumer_class, read, old.purpose, old.latency, old.contact)
    subscribe(transaction, actor, rules, sight, new, status.subscribed.team)
    unsubscribe(transaction, actor, sight, consumer, migration.line)
    _record_state(transaction, actor, migration, status, ConsumerState.MOVED)
    return migration_status.board_answer(transaction.connection, sight, rules, migration, transaction.now.date())


def record_proof(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, identity: int, proof: dict[str, Any]
) -> BoardAnswer:
    """Store the proof of a migration, replacing an earlier one."""
    migration = migration_records.find(transaction.connection, identity, sight)
    teams = versions.owners_of(transaction.connection, migration.line)
    authorize(actor, Action.REGISTER, Resource("contract", migration.contract, teams))
    for side, contract in zip(
        ("before", "after"), migration_status.contracts_of(transaction.connection, rules, migration), strict=True
    ):
        side_proof = proof.get(side)
        if not isinstance(side_proof, dict) or side_proof.get("digest") != contract_digest(contract):
            raise Refused(
                f"the proof is not about {contract.id} {contract.version} as registered here; "
                "prove the versions of this registry: treaty migrate prove "
                f"{migration.contract}@{migration.version} {migration.contract}@{migration.to_version}"
            )
    if not isinstance(proof.get("holds"), bool) or not isinstance(proof.get("shims"), list):
        raise InvalidDocument("this is not a proof; submit the output of: treaty migrate prove --format json")
    holds = proof["holds"]
    transaction.record(
        actor.name,
        "migration.prove",
        f"{migration.line} -> {migration.to_line}",
        before=migration.proof,
        after=proof,
        details={"migration": identity, "holds": holds, "shims": proof.get("shims_digest")},
    )
    migration_records.change(transaction, identity, proof=proof)
    updated = migration_records.find(transaction.connection, identity)
    return migration_status.board_answer(transaction.connection, sight, rules, updated, transaction.now.date())


def _find_consumer(
    transaction: Transaction, sight: Sight, rules: RegistryRules, identity: int, consumer: str
) -> tuple[StoredMigration, ConsumerStatus]:
    migration = migration_records.find(transaction.connection, identity, sight)
    if not migration.is_live:
        raise Conflict(f"migration {identity} is {migration.state}; it takes no more changes")
    statuses = migration_status.consumer_statuses(transaction.connection, rules, migration, transaction.now.date())
    status = next((status for status in statuses if status.consumer == consumer), None)
    if status is None or not sees_consumer(sight, status):
        known = ", ".join(visible_consumers(statuses, sight)) or "none"
        raise NotFound(f"{consumer!r} is not part of migration {identity}; its consumers: {known}")
    return migration, status


def _refuse_if_moved(status: ConsumerStatus) -> None:
    if status.state is ConsumerState.MOVED:
        raise Conflict(f"{status.consumer} has moved already")


def _resource(status: ConsumerStatus) -> Resource:
    return Resource("subscription", status.consumer, frozenset({status.team or status.consumer}))


def _record_state(
    transaction: Transaction,
    actor: Actor,
    migration: StoredMigration,
    status: ConsumerStatus,
    state: ConsumerState,
    reason: str | None = None,
    until: date | None = None,
) -> None:
    previous = status.stored
    transaction.record(
        actor.name,
        f"migration.{state}",
        f"{status.consumer}: {migration.line} -> {migration.to_line}",
        before={"state": status.state, "reason": previous.reason, "until": previous.until} if previous else None,
        after={"state": state, "reason": reason, "until": until},
        details={"migration": migration.id, "reason": reason, "until": str(until) if until else None},
    )
    values = {
        "state": state.value,
        "effect": status.effect.value,
        "consumer_class": status.consumer_class.value,
        "team": status.team,
        "reason": reason,
        "until": until,
        "changed_at": transaction.now,
        "changed_by": actor.name,
    }
    migration_records.put_consumer(transaction, migration.id, status.consumer, values)
    owners = versions.owners_of(transaction.connection, migration.line) | (
        {migration.owner} if migration.owner else set()
    )
    if state is ConsumerState.WAIVED:
        owners |= {status.consumer} | ({status.team} if status.team else set())
    is_public = sees_consumer(public_sight(transaction), status)
    shown = status.consumer if is_public else HIDDEN_CONSUMER
    transaction.notify(
        f"migration.{state}",
        migration.contract,
        f"{shown} is {state}: {migration.line} -> {migration.to_line}",
        version=migration.to_version,
        details={
            "migration": migration.id,
            "consumer": shown,
            "reason": reason if is_public else None,
        },
        parties=owners,
    )


def _register_if_complete(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, migration: StoredMigration
) -> BoardAnswer:
    """Register the version if nothing else is missing."""
    today = transaction.now.date()
    connection = transaction.connection
    open_still = migration.state is MigrationState.PROPOSED and migration.proposal is not None
    if open_still and rules.approval is Approval.OFF:
        left = migration_status.missing_acknowledgements(
            rules, migration_status.consumer_statuses(connection, rules, migration, today)
        )
        if not left and migration.proposal is not None:
            _register_proposal(transaction, actor, rules, migration, migration.proposal)
    updated = migration_records.find(transaction.connection, migration.id)
    return migration_status.board_answer(transaction.connection, sight, rules, updated, today)


def _register_proposal(
    transaction: Transaction, actor: Actor, rules: RegistryRules, migration: StoredMigration, proposal: int
) -> None:
    row = governance_records.find_proposal(transaction.connection, proposal)
    try:
        register_approved(
            transaction, row.proposed_by, rules, prepare(row.document, row.media, rules.limits), Mode(row.mode)
        )
    except (Refused, Conflict, InvalidDocument) as error:
        # the acknowledgement stays valid; the owners are notified
        transaction.notify(
            "migration.stuck",
            migration.contract,
            f"{migration.contract} {migration.to_version} has every acknowledgement, but cannot be registered",
            version=migration.to_version,
            details={"migration": migration.id, "proposal": proposal, "reason": str(error)},
            parties=versions.owners_of(transaction.connection, migration.line),
        )
        return
    reason = "every consumer it waited for has acknowledged it"
    governance_records.decide_proposal(transaction, proposal, ProposalState.APPROVED, actor.name, reason)
