"""The status of migrations and of each consumer in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.compatibility import diff, judge
from treaty.consumers.impact import BreakingChanges, Effect
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line, parse_line
from treaty.registry.documents import prepare
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationConsumerAnswer
from treaty.registry.rules import Acknowledgement, RegistryRules
from treaty.registry.store import Connection, governance_records, migration_records, subscriptions, versions
from treaty.registry.store.migration_records import ConsumerState, MigrationState, StoredConsumer, StoredMigration
from treaty.registry.store.subscriptions import Subscribed
from treaty.registry.store.visibility import Sight, sees_consumer, visible_consumers


@dataclass(frozen=True)
class ConsumerStatus:
    """The status of one consumer; without a subscription it no longer reads the old line."""

    consumer: str
    state: ConsumerState
    effect: Effect
    consumer_class: ConsumerClass
    team: str | None
    subscribed: Subscribed | None
    stored: StoredConsumer | None

    @property
    def name(self) -> str:
        """The name of the consumer."""
        return self.consumer

    @property
    def is_missing(self) -> bool:
        """Whether its acknowledgement is missing."""
        is_awaited = self.subscribed is not None and self.subscribed.subscription.is_awaited
        return is_awaited and self.effect is not Effect.SAFE and self.state is ConsumerState.WAITING

    @property
    def via(self) -> Line | None:
        """The line it reads, if the change reaches it through that line: then it acknowledges, and does not move."""
        return parse_line(self.stored.via) if self.stored and self.stored.via else None

    @property
    def is_left(self) -> bool:
        """Whether it is still to move or, behind another line, to acknowledge."""
        acknowledged = self.state is ConsumerState.ACKNOWLEDGED and self.via is None
        return self.state is ConsumerState.WAITING or acknowledged


def consumer_statuses(
    connection: Connection, rules: RegistryRules, migration: StoredMigration, today: date
) -> list[ConsumerStatus]:
    """Return the status of each consumer: those at the start, and those that subscribed since."""
    known = migration_records.consumers_of(connection, migration.id)
    reading = {
        subscriber.subscription.consumer: subscriber
        for subscriber in subscriptions.subscribers(connection, migration.line)
    }
    newcomers = reading.keys() - known.keys()
    changes = BreakingChanges(judge(diff(*contracts_of(connection, rules, migration)))) if newcomers else None
    statuses = []
    for name in sorted(known.keys() | reading.keys()):
        row, subscribed = known.get(name), reading.get(name)
        if row is None and subscribed is not None and changes is not None:
            subscription = subscribed.subscription
            effect, _ = changes.effect_on(subscription.fields)
            waiting = ConsumerState.WAITING
            kind, team = subscription.consumer_class, subscribed.team
            statuses.append(ConsumerStatus(name, waiting, effect, kind, team, subscribed, None))
        elif row is not None:
            subscribed = _subscribed_behind(connection, row) if row.via else subscribed
            kind = subscribed.subscription.consumer_class if subscribed else row.consumer_class
            team = subscribed.team if subscribed else row.team
            state = _state(row, subscribed, today)
            statuses.append(ConsumerStatus(name, state, Effect(row.effect), kind, team, subscribed, row))
    return statuses


def _subscribed_behind(connection: Connection, row: StoredConsumer) -> Subscribed | None:
    """Return the subscription through which a change reaches a consumer, if it is still active."""
    subscribed = subscriptions.find_subscription(connection, row.consumer, parse_line(row.via)) if row.via else None
    return subscribed if subscribed is not None and subscribed.active else None


def missing_acknowledgements(rules: RegistryRules, statuses: list[ConsumerStatus]) -> list[ConsumerStatus]:
    """Return the consumers whose acknowledgement is missing."""
    if rules.acknowledgement is Acknowledgement.OFF:
        return []
    return [status for status in statuses if status.is_missing]


def contracts_of(connection: Connection, rules: RegistryRules, migration: StoredMigration) -> tuple[Contract, Contract]:
    """Return the old and the new contract of a migration; the new one may still be a proposal."""
    old = versions.contract_of(connection, versions.get_version(connection, migration.contract, migration.version))
    if migration.state is MigrationState.PROPOSED and migration.proposal is not None:
        proposal = governance_records.find_proposal(connection, migration.proposal)
        return old, prepare(proposal.document, proposal.media, rules.limits).contract
    return old, versions.contract_of(
        connection, versions.get_version(connection, migration.contract, migration.to_version)
    )


def migration_answer(
    connection: Connection, sight: Sight, rules: RegistryRules, migration: StoredMigration, today: date
) -> MigrationAnswer:
    """Return the API model of a migration."""
    statuses = consumer_statuses(connection, rules, migration, today) if migration.is_live else []
    return MigrationAnswer(**_answer_fields(sight, rules, migration, statuses))


def board_answer(
    connection: Connection, sight: Sight, rules: RegistryRules, migration: StoredMigration, today: date
) -> BoardAnswer:
    """Return the API model of a migration with the status of each consumer that the actor may see."""
    statuses = consumer_statuses(connection, rules, migration, today)
    seen = [_row(status) for status in statuses if sees_consumer(sight, status)]
    return BoardAnswer(
        **_answer_fields(sight, rules, migration, statuses),
        consumers=seen,
        hidden=len(statuses) - len(seen),
        proof=migration.proof,
    )


def _answer_fields(
    sight: Sight, rules: RegistryRules, migration: StoredMigration, statuses: list[ConsumerStatus]
) -> dict[str, Any]:
    missing = missing_acknowledgements(rules, statuses) if migration.state is MigrationState.PROPOSED else []
    counted = Counter(status.state.value for status in statuses)
    return {
        "id": migration.id,
        "contract": migration.contract,
        "before": str(migration.line),
        "after": str(migration.to_line),
        "before_version": migration.version,
        "after_version": migration.to_version,
        "state": migration.state.value,
        "owner": migration.owner,
        "guide": migration.guide,
        "window": migration.window,
        "opened_at": migration.opened_at,
        "ends_on": migration.ends_on,
        "closed_at": migration.closed_at,
        "proposal": migration.proposal if migration.state is MigrationState.PROPOSED else None,
        "proven": None if migration.proof is None else bool(migration.proof.get("holds")),
        "counts": {state.value: counted[state.value] for state in ConsumerState if counted[state.value]},
        "missing": visible_consumers(missing, sight),
    }


def _row(status: ConsumerStatus) -> MigrationConsumerAnswer:
    subscription = status.subscribed.subscription if status.subscribed else None
    return MigrationConsumerAnswer(
        consumer=status.consumer,
        consumer_class=status.consumer_class.value,
        critical=status.consumer_class.is_critical,
        effect=status.effect.value,
        state=status.state.value,
        via=str(status.via) if status.via else None,
        fields=[str(path) for path in subscription.fields] if subscription else [],
        team=status.team,
        confirmed=subscription.is_confirmed if subscription else True,
        contact=subscription.contact if subscription else None,
        reason=status.stored.reason if status.stored else None,
        until=status.stored.until if status.stored else None,
        changed_at=status.stored.changed_at if status.stored else None,
        changed_by=status.stored.changed_by if status.stored else None,
    )


def _state(row: StoredConsumer, subscribed: Subscribed | None, today: date) -> ConsumerState:
    """Compute the state of a consumer today: without a subscription it has moved, and waivers end."""
    if subscribed is None:
        return ConsumerState.MOVED
    if row.state is ConsumerState.WAIVED and row.until is not None and row.until < today:
        return ConsumerState.WAITING
    return ConsumerState.WAITING if row.state is ConsumerState.MOVED else row.state
