"""The start of a migration, acknowledgements, windows and reminders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from treaty.consumers.impact import Effect, Impact, compute_impact
from treaty.contracts.quantities import parse_seconds
from treaty.registry.model import StepAnswer
from treaty.registry.rules import Acknowledgement, Approval, RegistryRules
from treaty.registry.service import migration_status
from treaty.registry.service.judgement import Judgement
from treaty.registry.store import Connection, migration_records, subscriptions, versions
from treaty.registry.store.migration_records import ConsumerState, MigrationState, StoredMigration
from treaty.registry.store.subscriptions import Subscribed
from treaty.registry.store.transaction import Transaction

_DAY = 86_400


@dataclass(frozen=True)
class Reader:
    """A consumer of the old line, and the impact of the change on it."""

    subscribed: Subscribed
    impact: Impact

    @property
    def name(self) -> str:
        """The name of the consumer."""
        return self.subscribed.subscription.consumer

    @property
    def must_acknowledge(self) -> bool:
        """Whether the change needs its acknowledgement."""
        critical = self.subscribed.subscription.consumer_class.is_critical
        return critical and self.impact.effect is not Effect.SAFE


@dataclass(frozen=True)
class Waiting:
    """What a version waits for: acknowledgements of critical consumers, and an approval."""

    consumers: tuple[str, ...]
    approval: bool

    def __bool__(self) -> bool:
        """Whether the version must be proposed first."""
        return bool(self.consumers) or self.approval


def readers(connection: Connection, judgement: Judgement) -> list[Reader]:
    """Return the consumers of the old line if the version breaks consumers and opens a line; otherwise none."""
    moves = judgement.before is not None and judgement.verdict.opens_line and judgement.breaks_consumers
    if not moves or judgement.before is None:
        return []
    subscribed = {
        subscriber.subscription: subscriber
        for subscriber in subscriptions.subscribers(connection, judgement.before.line)
    }
    return [Reader(subscribed[impact.subscription], impact) for impact in compute_impact(judgement.verdict, subscribed)]


def waits(rules: RegistryRules, judgement: Judgement, affected: Sequence[Reader]) -> Waiting:
    """Return what an admissible version waits for, given the consumers of the old line."""
    required = rules.acknowledgement is Acknowledgement.REQUIRED
    return Waiting(
        tuple(reader.name for reader in affected if required and reader.must_acknowledge),
        judgement.breaks_consumers and rules.approval is Approval.REQUIRED,
    )


def propose(
    transaction: Transaction, actor: str, judgement: Judgement, affected: Sequence[Reader], proposal: int
) -> int:
    """Start a migration that waits for acknowledgements, and request them; once for each proposal."""
    known = migration_records.proposed_as(transaction.connection, proposal)
    if known is not None:
        return known.id
    identity = _add(transaction, actor, judgement, affected, MigrationState.PROPOSED, proposal)
    contract = judgement.candidate.contract
    critical = [reader for reader in affected if reader.must_acknowledge]
    names = ", ".join(reader.name for reader in critical)
    transaction.notify(
        "migration.proposed",
        contract.id,
        f"{contract.id} {contract.version} waits for acknowledgement by {names}",
        version=contract.version,
        details={
            "migration": identity,
            "proposal": proposal,
            "consumers": {reader.name: [change.message for change in reader.impact.changes] for reader in critical},
        },
        parties={reader.name for reader in critical}
        | {reader.subscribed.team for reader in critical if reader.subscribed.team},
    )
    return identity


def begin(transaction: Transaction, actor: str, rules: RegistryRules, judgement: Judgement) -> None:
    """Start the window of a migration when its version is registered."""
    if judgement.before is None or not judgement.verdict.opens_line:
        return
    contract = judgement.candidate.contract
    waiting = migration_records.waiting_for(transaction.connection, contract.id, contract.version)
    if waiting is None:
        affected = readers(transaction.connection, judgement)
        if not affected:
            return
        identity = _add(transaction, actor, judgement, affected, MigrationState.OPEN, None)
    else:
        identity = waiting.id
    plan, today = contract.treaty.migration, transaction.now.date()
    ends = window_end(today, plan.window if plan else None)
    migration_records.change(
        transaction,
        identity,
        state=MigrationState.OPEN.value,
        opened_at=transaction.now,
        ends_on=ends,
        remind_on=next_reminder(ends, rules.reminders, today),
    )


def window_end(start: date, window: str | None) -> date | None:
    """Return the day a window ends; None without a length."""
    length = parse_seconds(window) if window else None
    return None if length is None else start + timedelta(days=min(math.ceil(length / _DAY), 36_500))


def next_reminder(ends: date | None, days_before: Sequence[int], after: date) -> date | None:
    """Return the next day to remind consumers: some days before the end, and the day after it."""
    if ends is None:
        return None
    days = sorted({ends - timedelta(days=days) for days in days_before} | {ends + timedelta(days=1)})
    return next((day for day in days if day > after), None)


def _add(
    transaction: Transaction,
    actor: str,
    judgement: Judgement,
    affected: Sequence[Reader],
    state: MigrationState,
    proposal: int | None,
) -> int:
    contract, before = judgement.candidate.contract, judgement.before
    assert before is not None  # noqa: S101 - the first line has no consumers yet
    plan = contract.treaty.migration
    identity = transaction.record(
        actor,
        "migration.open" if state is MigrationState.OPEN else "migration.propose",
        f"{before.line} -> {judgement.candidate.line}",
        before=before.digest,
        after=judgement.candidate.digest,
        details={"version": contract.version, "consumers": [reader.name for reader in affected], "proposal": proposal},
    )
    migration_records.add(
        transaction,
        {
            "id": identity,
            "contract": contract.id,
            "major": before.major,
            "version": before.version,
            "to_major": judgement.candidate.parts[0],
            "to_version": contract.version,
            "guide": plan.guide if plan else None,
            "window": plan.window if plan else None,
            "owner": plan.owner if plan else None,
            "state": state.value,
            "proposal": proposal,
            "opened_at": transaction.now,
        },
    )
    for reader in affected:
        values = {
            "state": ConsumerState.WAITING.value,
            "effect": reader.impact.effect.value,
            "consumer_class": reader.subscribed.subscription.consumer_class.value,
            "team": reader.subscribed.team,
            "changed_at": transaction.now,
            "changed_by": actor,
        }
        migration_records.put_consumer(transaction, identity, reader.name, values)
    return identity


_CLOCK = "calendar"


def remind(transaction: Transaction, rules: RegistryRules, limit: int = 100) -> list[StepAnswer]:
    """Remind consumers that have not moved, on the configured days and once after the window has ended."""
    today = transaction.now.date()
    return [
        _reminded(transaction, rules, migration, today)
        for migration in migration_records.due(transaction.connection, today, limit)
    ]


def _reminded(transaction: Transaction, rules: RegistryRules, migration: StoredMigration, today: date) -> StepAnswer:
    left = [
        status
        for status in migration_status.consumer_statuses(transaction.connection, rules, migration, today)
        if status.is_left
    ]
    ends = migration.ends_on or today
    when = f"ends on {ends}" if ends >= today else f"ended on {ends}"
    names = ", ".join(status.consumer for status in left) or "none"
    text = f"the window {when}; still to move: {names}"
    transaction.record(
        _CLOCK,
        "migration.remind",
        f"{migration.line} -> {migration.to_line}",
        details={"migration": migration.id, "consumers": [status.consumer for status in left]},
    )
    migration_records.change(
        transaction, migration.id, remind_on=next_reminder(migration.ends_on, rules.reminders, today)
    )
    if left:
        parties = {status.consumer for status in left} | {status.team for status in left if status.team}
        parties |= versions.owners_of(transaction.connection, migration.line) | (
            {migration.owner} if migration.owner else set()
        )
        transaction.notify(
            "migration.reminder" if ends >= today else "migration.overdue",
            migration.contract,
            f"{migration.line} -> {migration.to_line}: {text}",
            version=migration.to_version,
            details={
                "migration": migration.id,
                "ends_on": str(ends),
                "guide": migration.guide,
                "consumers": {status.consumer: status.state.value for status in left},
            },
            parties=parties,
        )
    members = versions.versions_in_line(transaction.connection, migration.line)
    status = members[0].status.value if members else "gone"
    return StepAnswer(contract=migration.contract, version=migration.version, before=status, after=status, reason=text)
