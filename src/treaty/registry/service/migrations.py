"""Migrations: acknowledge, move, waive, prove, and the migration path between two versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from treaty.compatibility import Mode
from treaty.compatibility.migration import MigrationPath, migration_path, path_as_data, pyspark_text, view_sql
from treaty.compatibility.migration.proof import contract_digest
from treaty.consumers.migration_guides import build_guides, line_table
from treaty.consumers.subscriptions import Subscription, parse_fields
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath
from treaty.errors import Conflict, InvalidDocument, NotFound, Refused
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import MigrationsApi
from treaty.registry.documents import prepare
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import consumers, migration_status
from treaty.registry.service.context import Context
from treaty.registry.service.migration_status import ConsumerStatus
from treaty.registry.service.registration import register_approved
from treaty.registry.store import Connection, governance_records, migration_records, subscriptions, versions
from treaty.registry.store.governance_records import ProposalState
from treaty.registry.store.migration_records import ConsumerState, MigrationState, StoredMigration
from treaty.registry.store.transaction import Transaction

_MAX_TEXT_LENGTH = 2_000


class Migrations(MigrationsApi):
    """The migrations of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def list(
        self,
        *,
        contract: str | None = None,
        state: str | None = None,
        team: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[MigrationAnswer]:
        """List migrations with the number of consumers in each state, optionally of one contract or team."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        wanted = _state(state)
        context = self._context

        def read(connection: Connection) -> list[MigrationAnswer]:
            migrations = migration_records.page(connection, contract, wanted, team, int(start), limit + 1)
            return [
                migration_status.migration_answer(connection, context.rules, migration, context.today)
                for migration in migrations
            ]

        return page_of(context.read(read), limit, lambda row: (row.id,))

    def get(self, migration: int) -> BoardAnswer:
        """Return a migration with the state of each consumer and its proof."""
        context = self._context
        return context.read(
            lambda connection: migration_status.board_answer(
                connection, context.rules, migration_records.find(connection, migration), context.today
            )
        )

    def acknowledge(self, migration: int, consumer: str, *, note: str | None = None) -> BoardAnswer:
        """Acknowledge a change for a consumer; the last acknowledgement that is missing registers the version."""
        context = self._context
        _check_text(note)
        return context.write(
            lambda transaction: acknowledge(transaction, context.actor, context.rules, migration, consumer, note)
        )

    def move(self, migration: int, consumer: str, *, fields: Sequence[str] | None = None) -> BoardAnswer:
        """Move a consumer's subscription from the old line to the new one."""
        context = self._context
        named = None if fields is None else [*fields]
        return context.write(
            lambda transaction: move(transaction, context.actor, context.rules, migration, consumer, named)
        )

    def waive(self, migration: int, consumer: str, *, reason: str, until: date) -> BoardAnswer:
        """Continue without a consumer, for a reason, until a day."""
        context = self._context
        _check_text(reason)
        return context.write(
            lambda transaction: waive(transaction, context.actor, context.rules, migration, consumer, reason, until)
        )

    def record_proof(self, migration: int, proof: Mapping[str, Any]) -> BoardAnswer:
        """Store the result of running the shims of a migration on data."""
        context = self._context
        return context.write(
            lambda transaction: record_proof(transaction, context.actor, context.rules, migration, dict(proof))
        )

    def path(self, contract: str, before: str, after_: str) -> MigrationPathAnswer:
        """Return the migration path between two versions, with a guide for each consumer of the old line."""
        context = self._context
        return context.read(
            lambda connection: path_answer(connection, context.rules, contract, before, after_, context.today)
        )


def _state(text: str | None) -> MigrationState | None:
    if text is None:
        return None
    try:
        return MigrationState(text)
    except ValueError:
        known = ", ".join(MigrationState)
        raise InvalidDocument(f"unknown state {text[:40]!r} of migrations; use one of: {known}") from None


def _check_text(text: str | None) -> None:
    if text is not None and (len(text) > _MAX_TEXT_LENGTH or "\x00" in text):
        raise InvalidDocument(f"a note or reason has {_MAX_TEXT_LENGTH:,} characters at most, no NUL")


def acknowledge(
    transaction: Transaction, actor: Actor, rules: RegistryRules, identity: int, consumer: str, note: str | None
) -> BoardAnswer:
    """Acknowledge the change for a consumer; the last missing acknowledgement registers the version."""
    migration, status = _find_consumer(transaction, rules, identity, consumer)
    authorize(actor, Action.SUBSCRIBE, _resource(status))
    if status.state in (ConsumerState.WAITING, ConsumerState.WAIVED):
        _put(transaction, actor, migration, status, ConsumerState.ACKNOWLEDGED, reason=note)
    return _register_if_complete(transaction, actor, rules, migration)


def waive(
    transaction: Transaction, actor: Actor, rules: RegistryRules, identity: int, consumer: str, reason: str, until: date
) -> BoardAnswer:
    """Continue without a consumer, for a reason, until a day."""
    migration, status = _find_consumer(transaction, rules, identity, consumer)
    authorize(actor, Action.WAIVE, Resource("migration", str(migration.line)))
    if not reason.strip():
        raise InvalidDocument("a waiver needs a reason, which is recorded in the audit log")
    if until < transaction.now.date():
        raise InvalidDocument(f"the waiver would have ended on {until}; choose a day to come")
    _refuse_if_moved(status)
    _put(transaction, actor, migration, status, ConsumerState.WAIVED, reason=reason, until=until)
    return _register_if_complete(transaction, actor, rules, migration)


def move(
    transaction: Transaction, actor: Actor, rules: RegistryRules, identity: int, consumer: str, fields: list[str] | None
) -> BoardAnswer:
    """Move the subscription of a consumer to the new line; its fields follow the migration path unless given."""
    migration, status = _find_consumer(transaction, rules, identity, consumer)
    authorize(actor, Action.SUBSCRIBE, _resource(status))
    if migration.state is not MigrationState.OPEN:
        raise Conflict(f"{migration.to_line} is not registered yet; {consumer} can move once it is")
    if status.subscribed is None:
        return migration_status.board_answer(transaction.connection, rules, migration, transaction.now.date())
    old = status.subscribed.subscription
    read = (
        parse_fields(fields)
        if fields is not None
        else followed(migration_status.contracts_of(transaction.connection, rules, migration), rules, old.fields)
    )
    new = Subscription(consumer, migration.to_line, old.consumer_class, read, old.purpose, old.latency, old.contact)
    consumers.subscribe(transaction, actor, new, status.subscribed.team)
    consumers.unsubscribe(transaction, actor, consumer, migration.line)
    _put(transaction, actor, migration, status, ConsumerState.MOVED)
    return migration_status.board_answer(transaction.connection, rules, migration, transaction.now.date())


def record_proof(
    transaction: Transaction, actor: Actor, rules: RegistryRules, identity: int, proof: dict[str, Any]
) -> BoardAnswer:
    """Store the proof of a migration, replacing an earlier one."""
    migration = migration_records.find(transaction.connection, identity)
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
    return migration_status.board_answer(transaction.connection, rules, updated, transaction.now.date())


def _find_consumer(
    transaction: Transaction, rules: RegistryRules, identity: int, consumer: str
) -> tuple[StoredMigration, ConsumerStatus]:
    migration = migration_records.find(transaction.connection, identity)
    if not migration.is_live:
        raise Conflict(f"migration {identity} is {migration.state}; it takes no more changes")
    statuses = migration_status.consumer_statuses(transaction.connection, rules, migration, transaction.now.date())
    status = next((status for status in statuses if status.consumer == consumer), None)
    if status is None:
        known = ", ".join(other.consumer for other in statuses) or "none"
        raise NotFound(f"{consumer!r} is not part of migration {identity}; its consumers: {known}")
    return migration, status


def _refuse_if_moved(status: ConsumerStatus) -> None:
    if status.state is ConsumerState.MOVED:
        raise Conflict(f"{status.consumer} has moved already")


def _resource(status: ConsumerStatus) -> Resource:
    return Resource("subscription", status.consumer, frozenset({status.team or status.consumer}))


def _put(
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
    transaction.notify(
        f"migration.{state}",
        migration.contract,
        f"{status.consumer} is {state}: {migration.line} -> {migration.to_line}",
        version=migration.to_version,
        details={"migration": migration.id, "consumer": status.consumer, "reason": reason},
        parties=owners,
    )


def _register_if_complete(
    transaction: Transaction, actor: Actor, rules: RegistryRules, migration: StoredMigration
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
    return migration_status.board_answer(transaction.connection, rules, updated, today)


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


_MAX_GUIDES = 500


def path_answer(
    connection: Connection, rules: RegistryRules, contract: str, before: str, after: str, today: date
) -> MigrationPathAnswer:
    """Compute the migration path between two versions."""
    old, new = (versions.get_version(connection, contract, version) for version in (before, after))
    path = migration_path(versions.contract_of(connection, old), versions.contract_of(connection, new), rules.guard)
    readers = [subscriber.subscription for subscriber in subscriptions.subscribers(connection, old.line)]
    known = migration_records.between(connection, contract, before, after)
    ends = known.ends_on if known else None
    return MigrationPathAnswer(
        contract=contract,
        before=before,
        after=after,
        path=path_as_data(path),
        views=list(_views(path)),
        guides=[guide.as_data() for guide in build_guides(path, readers[:_MAX_GUIDES], ends)],
    )


def followed(
    contracts: tuple[Contract, Contract], rules: RegistryRules, fields: tuple[FieldPath, ...]
) -> tuple[FieldPath, ...]:
    """Return the fields of the new line that fields of the old line became."""
    path = migration_path(*contracts, rules.guard)
    result: set[FieldPath] = set()
    for step in (step for table in path.objects for step in table.back.walk() if not step.inside):
        if any(field.covers(step.target) or step.target.covers(field) for field in fields):
            result.update(step.sources)
    return tuple(sorted(result, key=str))


def _views(path: MigrationPath) -> Iterator[dict[str, Any]]:
    for table in path.objects:
        old, new = line_table(path.before, table.before), line_table(path.after, table.after)
        for shim, name, source in ((table.back, old, new), (table.forward, new, old)):
            result: dict[str, Any] = {"way": shim.way.value, "view": ".".join(name), "source": ".".join(source)}
            try:
                sql, code = view_sql(shim, name, source), pyspark_text(shim, name[0], source)
                yield {**result, "sql": sql, "pyspark": code, "refused": None}
            except (Refused, InvalidDocument) as error:
                yield {**result, "sql": None, "pyspark": None, "refused": str(error)}
