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
from treaty.registry.documents import prepare
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationConsumerAnswer
from treaty.registry.rules import Acknowledgement, RegistryRules
from treaty.registry.store import Connection, governance_records, migration_records, subscriptions, versions
from treaty.registry.store.migration_records import ConsumerState, KeptConsumer, KeptMigration, MigrationState
from treaty.registry.store.subscriptions import Subscribed


@dataclass(frozen=True)
class Standing:
    """The status of one consumer; without a subscription it no longer reads the old line."""

    consumer: str
    state: ConsumerState
    effect: Effect
    consumer_class: ConsumerClass
    team: str | None
    subscribed: Subscribed | None
    kept: KeptConsumer | None

    @property
    def is_missing(self) -> bool:
        """Whether its acknowledgement is missing."""
        critical = self.consumer_class.is_critical and self.effect is not Effect.SAFE
        return critical and self.state is ConsumerState.WAITING

    @property
    def is_left(self) -> bool:
        """Whether it is still to move."""
        return self.state in (ConsumerState.WAITING, ConsumerState.ACKNOWLEDGED)


def standings(connection: Connection, rules: RegistryRules, one: KeptMigration, today: date) -> list[Standing]:
    """Return the status of each consumer: those at the start, and those that subscribed since."""
    known = migration_records.consumers_of(connection, one.id)
    reading = {it.subscription.consumer: it for it in subscriptions.subscribers(connection, one.line)}
    newcomers = reading.keys() - known.keys()
    changes = BreakingChanges(judge(diff(*contracts_of(connection, rules, one)))) if newcomers else None
    found = []
    for name in sorted(known.keys() | reading.keys()):
        row, subscribed = known.get(name), reading.get(name)
        if row is None and subscribed is not None and changes is not None:
            subscription = subscribed.subscription
            effect, _ = changes.effect_on(subscription.fields)
            waiting = ConsumerState.WAITING
            kind, team = subscription.consumer_class, subscribed.team
            found.append(Standing(name, waiting, effect, kind, team, subscribed, None))
        elif row is not None:
            kind = subscribed.subscription.consumer_class if subscribed else row.consumer_class
            team = subscribed.team if subscribed else row.team
            state = _state(row, subscribed, today)
            found.append(Standing(name, state, Effect(row.effect), kind, team, subscribed, row))
    return found


def missing(rules: RegistryRules, found: list[Standing]) -> list[str]:
    """Return the consumers whose acknowledgement is missing."""
    if rules.acknowledgement is Acknowledgement.OFF:
        return []
    return [one.consumer for one in found if one.is_missing]


def contracts_of(connection: Connection, rules: RegistryRules, one: KeptMigration) -> tuple[Contract, Contract]:
    """Return the old and the new contract of a migration; the new one may still be a proposal."""
    old = versions.contract_of(connection, versions.version_of(connection, one.contract, one.version))
    if one.state is MigrationState.PROPOSED and one.proposal is not None:
        proposal = governance_records.find_proposal(connection, one.proposal)
        return old, prepare(proposal.document, proposal.media, rules.limits).contract
    return old, versions.contract_of(connection, versions.version_of(connection, one.contract, one.to_version))


def migration_answer(connection: Connection, rules: RegistryRules, one: KeptMigration, today: date) -> MigrationAnswer:
    """Return the API model of a migration."""
    return MigrationAnswer(**_told(rules, one, standings(connection, rules, one, today) if one.is_live else []))


def board_answer(connection: Connection, rules: RegistryRules, one: KeptMigration, today: date) -> BoardAnswer:
    """Return the API model of a migration with the status of each consumer."""
    found = standings(connection, rules, one, today)
    return BoardAnswer(**_told(rules, one, found), consumers=[_row(it) for it in found], proof=one.proof)


def _told(rules: RegistryRules, one: KeptMigration, found: list[Standing]) -> dict[str, Any]:
    counted = Counter(it.state.value for it in found)
    return {
        "id": one.id,
        "contract": one.contract,
        "before": str(one.line),
        "after": str(one.to_line),
        "before_version": one.version,
        "after_version": one.to_version,
        "state": one.state.value,
        "owner": one.owner,
        "guide": one.guide,
        "window": one.window,
        "opened_at": one.opened_at,
        "ends_on": one.ends_on,
        "closed_at": one.closed_at,
        "proposal": one.proposal if one.state is MigrationState.PROPOSED else None,
        "proven": None if one.proof is None else bool(one.proof.get("holds")),
        "counts": {state.value: counted[state.value] for state in ConsumerState if counted[state.value]},
        "missing": missing(rules, found) if one.state is MigrationState.PROPOSED else [],
    }


def _row(one: Standing) -> MigrationConsumerAnswer:
    subscription = one.subscribed.subscription if one.subscribed else None
    return MigrationConsumerAnswer(
        consumer=one.consumer,
        consumer_class=one.consumer_class.value,
        critical=one.consumer_class.is_critical,
        effect=one.effect.value,
        state=one.state.value,
        fields=[str(path) for path in subscription.fields] if subscription else [],
        team=one.team,
        contact=subscription.contact if subscription else None,
        reason=one.kept.reason if one.kept else None,
        until=one.kept.until if one.kept else None,
        changed_at=one.kept.changed_at if one.kept else None,
        changed_by=one.kept.changed_by if one.kept else None,
    )


def _state(row: KeptConsumer, subscribed: Subscribed | None, today: date) -> ConsumerState:
    """Compute the state of a consumer today: without a subscription it has moved, and waivers end."""
    if subscribed is None:
        return ConsumerState.MOVED
    if row.state is ConsumerState.WAIVED and row.until is not None and row.until < today:
        return ConsumerState.WAITING
    return ConsumerState.WAITING if row.state is ConsumerState.MOVED else row.state
