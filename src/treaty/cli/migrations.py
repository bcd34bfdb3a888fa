"""Work of the migration commands: load versions, path and consumers of the old line; prove the path on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from treaty.cli.data_tests import DataInput, parse_data
from treaty.cli.inputs import STANDARD_INPUT, is_document_reference, load_source, resolve_contract
from treaty.cli.registry_connection import is_server_address, open_registry
from treaty.cli.spark_session import command_session
from treaty.compatibility.migration import MigrationDirection, MigrationPath, migration_path
from treaty.consumers.migration_guides import build_guides, line_of
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.spark.migration.proof import GivenRows, prove
from treaty.spark.readers import explain_errors, open_data, options_for
from treaty.spark.session_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.cli.render.migrations import Plan
    from treaty.compatibility.migration.proof import Proof
    from treaty.contracts import Contract
    from treaty.registry.model import Page, SubscriptionAnswer
    from treaty.settings import Settings


T = TypeVar("T")
PAGE_SIZE = 1_000


@dataclass(frozen=True)
class RegistryLocation:
    """Which registry to ask."""

    registry: str | None
    token_file: Path | None
    settings: Settings

    @property
    def exists(self) -> bool:
        """Whether a registry is given, or the configured one exists."""
        configured = self.settings.parts.registry
        return (
            self.registry is not None
            or is_server_address(configured)
            or "://" in configured
            or Path(configured).exists()
        )


def load_versions(before: str, after: str, location: RegistryLocation) -> tuple[Contract, Contract]:
    """Read two versions, each from a document or from the registry."""
    if before == after == STANDARD_INPUT:
        raise InvalidDocument("only one of the two documents can come from standard input")
    old, new = (_contract(reference, location) for reference in (before, after))
    if old.id != new.id:
        raise InvalidDocument(f"{old.id!r} and {new.id!r} are different contracts; give two versions of one contract")
    return old, new


def path_between(old: Contract, new: Contract) -> MigrationPath:
    """Compute the migration path; declared SQL is checked by the guard."""
    plan = new.treaty.migration
    if plan is None or not any(move.sql or move.back for move in plan.fields):
        return migration_path(old, new)
    from treaty.sql.rules import guard_sql  # loads sqlglot, which only a plan with SQL needs

    return migration_path(old, new, guard_sql)


@dataclass(frozen=True)
class LineReaders:
    """The consumers of a line, and the last day of the migration window if it is known."""

    subscriptions: tuple[Subscription, ...]
    by: date | None = None


def find_readers(
    contract: Contract, new: Contract, location: RegistryLocation, file: Path | None
) -> LineReaders | None:
    """Return the consumers of a line, from a file or from the registry; None if there is neither."""
    line = line_of(contract)
    if file is not None:
        from treaty.consumers.subscription_files import read_subscriptions

        try:
            content = file.read_bytes()
        except OSError as error:
            raise NotFound(f"cannot read {file}: {error.strerror}; give a file with subscriptions:") from None
        subscriptions = [
            subscription.subscription
            for subscription in read_subscriptions(content, str(file), location.settings.limits)
        ]
        return LineReaders(tuple(subscription for subscription in subscriptions if subscription.line == line))
    if not location.exists:
        return None
    with open_registry(location.registry, location.token_file, location.settings) as registry:
        answers = _fetch_all(
            lambda cursor: registry.consumers.subscriptions(contract=contract.id, cursor=cursor, limit=PAGE_SIZE)
        )
        migrations = _fetch_all(
            lambda cursor: registry.migrations.list(contract=contract.id, state="open", cursor=cursor, limit=PAGE_SIZE)
        )
    lines = str(line), str(line_of(new))
    ends = [migration.ends_on for migration in migrations if (migration.before, migration.after) == lines]
    subscriptions = [subscription for subscription in map(_subscription, answers) if subscription.line == line]
    return LineReaders(tuple(subscriptions), ends[-1] if ends else None)


def select_consumer(readers: Sequence[Subscription], consumer: str | None) -> tuple[Subscription, ...]:
    """Return the subscription of one consumer, or all."""
    if consumer is None:
        return tuple(readers)
    matches = tuple(reader for reader in readers if reader.consumer == consumer)
    if not matches:
        known = ", ".join(reader.consumer for reader in readers) or "none"
        raise NotFound(f"{consumer!r} does not read the old line; its consumers are: {known}")
    return matches


def generic_consumer(contract: Contract) -> Subscription:
    """Return a consumer of all fields, for a guide if no consumer is known."""
    line = line_of(contract) or Line(contract.id, 0)
    return Subscription("all consumers", line, ConsumerClass.EXPLORATORY_ANALYTICS)


def _contract(reference: str, location: RegistryLocation) -> Contract:
    if is_document_reference(reference):
        return load_source(reference, location.settings.limits).contract
    return resolve_contract(reference, location.registry, location.token_file, location.settings)


def _fetch_all(ask: Callable[[str | None], Page[T]]) -> list[T]:
    page = ask(None)
    entries = list(page.items)
    while page.next is not None:
        page = ask(page.next)
        entries += page.items
    return entries


def _subscription(answer: SubscriptionAnswer) -> Subscription:
    return Subscription(
        answer.consumer,
        parse_line(answer.line),
        ConsumerClass(answer.consumer_class),
        parse_fields(answer.fields),
        answer.purpose,
        answer.latency,
        answer.contact,
    )


def build_plan(
    old: Contract, new: Contract, location: RegistryLocation, file: Path | None, consumer: str | None
) -> Plan:
    """Compute the migration path, its views, and the guides for the consumers of the old line."""
    from treaty.cli.render.migrations import Plan, views_of

    path = path_between(old, new)
    readers = find_readers(old, new, location, file)
    known = readers.subscriptions if readers else ()
    note = None
    if readers is None:
        note = "No registry knows the consumers of the old line; this guide lists all its fields."
    elif not known and consumer is None:
        note = f"{line_of(old) or old.id} has no known consumers; this guide lists all its fields."
    chosen = select_consumer(known, consumer) if known or consumer else (generic_consumer(old),)
    return Plan(path, build_guides(path, chosen, readers.by if readers else None), note, views_of(path))


def record_proof(proof: Proof, location: RegistryLocation) -> str:
    """Store a proof with the migration between its lines, and return a message."""
    lines = line_of(proof.before), line_of(proof.after)
    contract = proof.before.id
    with open_registry(location.registry, location.token_file, location.settings) as registry:
        migrations = _fetch_all(
            lambda cursor: registry.migrations.list(contract=contract, cursor=cursor, limit=PAGE_SIZE)
        )
        matches = [
            migration for migration in migrations if (migration.before, migration.after) == tuple(map(str, lines))
        ]
        if not matches:
            raise NotFound(
                f"no migration from {lines[0]} to {lines[1]} is registered; it starts when the first version of the "
                "new line is registered while the old one has consumers"
            )
        registry.migrations.record_proof(matches[-1].id, proof.as_data())
    return f"stored with migration {matches[-1].id}"


@dataclass(frozen=True)
class ProofRequest:
    """The parameters of a proof."""

    data: str | None
    old_data: str | None
    rows: int
    spark: SparkOptions
    settings: Settings

    @property
    def inputs(self) -> dict[MigrationDirection, DataInput]:
        """The given rows, by the direction in which they are converted."""
        references = {MigrationDirection.BACK: self.data, MigrationDirection.FORWARD: self.old_data}
        password = self.settings.secrets.jdbc_password
        return {way: parse_data(text, None, {}, password) for way, text in references.items() if text is not None}


def run_proof(path: MigrationPath, request: ProofRequest) -> Proof:
    """Convert rows along a migration path and back, on Spark."""
    inputs = request.inputs
    if not path.objects:
        raise InvalidDocument("the two versions have no object in common; there is nothing to prove")
    if inputs and len(path.objects) != 1:
        raise InvalidDocument("--data and --old-data are for contracts with one object; omit them")
    sources = [data.source for data in inputs.values()]
    with command_session(options_for(request.spark, sources)) as (session, progress):
        given = {way: _open(session, path, way, data) for way, data in inputs.items()}
        return prove(session, path, datetime.now(UTC), given=given, rows=request.rows, report=progress.start)


def _open(session: SparkSession, path: MigrationPath, way: MigrationDirection, data: DataInput) -> GivenRows:
    declared = path.objects[0].after if way is MigrationDirection.BACK else path.objects[0].before
    with explain_errors(data.source):
        opened = open_data(session, data.source, declared=declared, options=data.options)
        return GivenRows(opened.frame, str(data.source))
