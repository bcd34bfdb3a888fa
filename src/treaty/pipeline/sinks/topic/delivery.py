"""Delivery to a topic: what a table's readers can see and the topic's readers cannot, in bounded transactions.

The published table and the progress in the topic decide what is sent, so that a delivery that ended at any point is
completed by the next one, without a record that readers of committed records see twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from treaty.contracts.model import Contract
from treaty.errors import Conflict, TreatyError, Unavailable
from treaty.kafka.connection import connect_with
from treaty.pipeline.project.declarations import Publication, Records, Topic, ValueFormat
from treaty.pipeline.sinks.topic.cluster import PROGRESS_SUFFIX, Cluster, TopicState
from treaty.pipeline.sinks.topic.producer import Progress, TopicProducer
from treaty.pipeline.sinks.topic.records import RecordBuilder, RecordSource, record_keys, records_of
from treaty.pipeline.sinks.topic.values import SCHEMA_TYPES, Encoder, json_encoder, registered_encoder
from treaty.pipeline.tables import Commit, Stamp, TableCatalog
from treaty.pipeline.tables.row_changes import RowChange, SnapshotComparison, has_snapshot, table_id
from treaty.schema_registry.contract_schemas import Stream, without_notes, write_schema
from treaty.schema_registry.model import ParsedSchema
from treaty.schema_registry.subjects import DEFAULT_CONTEXT, NameStrategy
from treaty.spark.schema import select_object

RECORDS_PER_TRANSACTION = 5_000
_TAG = "sent_"


class SendStep(StrEnum):
    """The steps of a delivery, in the order in which it reports them."""

    REGISTERED = "schema registered"
    CONNECTED = "topics are there"
    TAKEN_OVER = "earlier producers ended"
    PROGRESS_READ = "progress read"
    COMPARED = "changes found"
    BEGUN = "transaction begun"
    PRODUCED = "record produced"
    COMMITTED = "transaction committed"
    TAGGED = "snapshot tagged"


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema in a registry, with its address there, if it has one."""

    id: int
    address: str | None = None


RegisterSchema: TypeAlias = Callable[[Topic, str, ParsedSchema], RegisteredSchema | None]
"""Registers the schema of a subject for a topic; returns None if there is no registry."""


def register_nothing(topic: Topic, subject: str, schema: ParsedSchema) -> None:
    """Register nothing."""


def _report_nothing(step: SendStep) -> None:
    """Ignore the steps of a delivery."""


@dataclass(frozen=True)
class TopicDelivery:
    """A publication whose changes are sent, as of a stamp."""

    catalog: TableCatalog
    table: str
    publication: Publication
    contract: Contract
    stamp: Stamp
    project: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment variables from which secrets are read."""
    register: RegisterSchema = register_nothing
    on_step: Callable[[SendStep], None] = _report_nothing

    @property
    def topic(self) -> Topic:
        """The topic as declared."""
        assert self.publication.topic is not None  # noqa: S101  the reader of declarations requires it for this form
        return self.publication.topic

    @property
    def transactional_id(self) -> str:
        """The id by which the brokers end what an interrupted delivery left open; each topic has one sender."""
        return f"treaty.{self.topic.name}"


@dataclass(frozen=True)
class Sent:
    """What a delivery sent."""

    topic: str
    records: int
    run: int


@dataclass
class OpenTopic:
    """A topic that this process sends to, with its producer and what it has sent."""

    topic: Topic
    producer: TopicProducer
    progress: Progress | None

    def reflects(self, run: int) -> bool:
        """Tell whether everything that a run published was sent."""
        return self.progress is not None and self.progress.is_complete and self.progress.run == run


OpenTopics: TypeAlias = dict[str, OpenTopic]
"""Topics by name. While its producer is open, no other process can send to a topic unnoticed."""


def send_changes(delivery: TopicDelivery, open_topics: OpenTopics | None = None) -> Sent | None:
    """Send what the topic does not reflect yet; None if there is nothing. Records become visible in transactions.

    `open_topics` keeps producers open for later deliveries of this process.
    """
    topics = open_topics if open_topics is not None else {}
    opened = topics.pop(delivery.topic.name, None)
    if opened is not None and opened.topic != delivery.topic:
        opened = None
    if opened is not None and opened.reflects(delivery.stamp.run):
        topics[delivery.topic.name] = opened
        return None
    records = records_of(delivery.contract, delivery.topic)
    record_keys(delivery.contract, records)  # a contract without a key is refused before anything is created
    encode, schema = _encoder(delivery)
    delivery.on_step(SendStep.REGISTERED)
    topic = delivery.topic
    connection = connect_with(topic.bootstrap, topic.security, delivery.publication.at, delivery.environment)
    cluster = Cluster(topic, connection)
    state = cluster.ensure_topics(records)
    delivery.on_step(SendStep.CONNECTED)
    opened = opened or _open_topic(delivery, cluster, state)
    _check_progress(delivery, opened.progress, state, opened.producer)
    sender = _Sender(delivery, opened, records, encode, schema, state.partitions)
    sent = sender.send(state.id)
    topics[delivery.topic.name] = opened  # after an error it is opened again
    return sent


def _open_topic(delivery: TopicDelivery, cluster: Cluster, state: TopicState) -> OpenTopic:
    producer = TopicProducer(cluster, delivery.transactional_id, state.max_bytes)
    producer.take_over()
    delivery.on_step(SendStep.TAKEN_OVER)
    progress = producer.read_progress()
    delivery.on_step(SendStep.PROGRESS_READ)
    return OpenTopic(delivery.topic, producer, progress)


def topic_schema(contract: Contract, topic: Topic) -> tuple[str, ParsedSchema]:
    """Return the subject and the schema of the values of a topic."""
    name = select_object(contract).name
    stream = Stream(DEFAULT_CONTEXT, topic.name, name, SCHEMA_TYPES[topic.value], NameStrategy.TOPIC)
    schema = without_notes(write_schema(contract, stream))
    return str(stream.subject(schema)), schema


def _encoder(delivery: TopicDelivery) -> tuple[Encoder, RegisteredSchema | None]:
    subject, schema = topic_schema(delivery.contract, delivery.topic)
    try:
        registered = delivery.register(delivery.topic, subject, schema)
    except TreatyError as error:
        where = delivery.topic.schema_registry or "the registry of the project"
        kind = Unavailable if isinstance(error, Unavailable) else Conflict
        raise kind(
            f"the schema of the topic {delivery.topic.name} was not registered at {where}, so nothing was sent: "
            f"{error}; check topic.schema_registry in {delivery.publication.at}"
        ) from None
    if delivery.topic.value is ValueFormat.JSON:
        columns = delivery.catalog.columns(delivery.table, delivery.stamp.snapshot)
        return json_encoder(columns), registered
    if registered is None:
        raise Conflict(
            f"the topic {delivery.topic.name} has {delivery.topic.value} values, whose schema must be registered; set "
            f"registry in treaty.yaml, or topic.schema_registry in {delivery.publication.at}"
        )
    return registered_encoder(delivery.contract, schema, registered.id), registered


def _check_progress(
    delivery: TopicDelivery, progress: Progress | None, state: TopicState, producer: TopicProducer
) -> None:
    """Refuse to send where the topic and the table do not belong together, since readers would miss or repeat rows."""
    name, advice = delivery.topic.name, f"name another topic in {delivery.publication.at}, or delete the topic"
    progress_name = f"{name}{PROGRESS_SUFFIX}"
    if progress is None:
        if producer.holds_records(state.partitions):
            raise Conflict(
                f"the topic {name} at {delivery.topic.bootstrap} has records that this publication did not send; "
                f"{advice}"
            )
        return
    if progress.topic != state.id:
        raise Conflict(
            f"the topic {name} at {delivery.topic.bootstrap} was deleted and created again after run "
            f"{progress.run} was sent; delete {name} and {progress_name}, so that all rows are sent again"
        )
    if progress.table != table_id(delivery.catalog, delivery.table):
        raise Conflict(
            f"the topic {name} at {delivery.topic.bootstrap} was sent from another table that has been dropped; "
            f"{advice} and {progress_name}"
        )
    needed = [progress.until] if progress.is_complete else [progress.until, progress.since]
    if progress.is_complete and progress.run == delivery.stamp.run:
        return
    if any(one is not None and not has_snapshot(delivery.catalog, delivery.table, one) for one in needed):
        raise Conflict(
            f"the rows of {delivery.table} that run {progress.run} sent to the topic {name} are no longer kept, so the "
            f"changes since then are not known; delete {name} and {progress_name}, so that all rows are sent again"
        )


@dataclass
class _Sender:
    delivery: TopicDelivery
    opened: OpenTopic
    records: Records
    encode: Encoder
    schema: RegisteredSchema | None
    partitions: int
    total: int = 0

    def send(self, topic_id: str) -> Sent | None:
        """Complete what an earlier delivery began, then send the changes up to the published stamp."""
        delivery, progress = self.delivery, self.opened.progress
        if progress is not None and not progress.is_complete:
            progress = self._send_changes(progress)
        if progress is None or progress.run != delivery.stamp.run:
            since = progress.until if progress else None
            table = table_id(delivery.catalog, delivery.table)
            begun = Progress(table, topic_id, delivery.stamp.run, since, delivery.stamp.snapshot, parts=0)
            progress = self._send_changes(begun)
        self._tag(progress)
        return Sent(delivery.topic.name, self.total, progress.run) if self.total else None

    def _send_changes(self, progress: Progress) -> Progress:
        keys = record_keys(self.delivery.contract, self.records)
        comparison = SnapshotComparison(
            self.delivery.catalog, self.delivery.table, progress.since, progress.until, keys.row, keys.group
        )
        progress = replace(progress, parts=progress.parts or comparison.part_count)
        builder = RecordBuilder(self._origin(progress), keys, self.records, self.encode, self.partitions)
        while not progress.is_complete:
            changes = builder.in_order(comparison.changes(progress.part, progress.parts))
            self.delivery.on_step(SendStep.COMPARED)
            progress = self._send_part(builder, changes, progress)
        return progress

    def _send_part(self, builder: RecordBuilder, changes: list[RowChange], progress: Progress) -> Progress:
        """Send the changes of one part; its last transaction says that the part is complete."""
        while True:
            batch = changes[progress.sent : progress.sent + RECORDS_PER_TRANSACTION]
            sent, total = progress.sent + len(batch), progress.total + len(batch)
            after = replace(progress, sent=sent, total=total)
            if sent >= len(changes):
                after = replace(after, part=progress.part + 1, sent=0)
            self._send_batch(builder, batch, progress, after)
            self.total += len(batch)
            if after.part != progress.part:
                return after
            progress = after

    def _send_batch(self, builder: RecordBuilder, batch: list[RowChange], before: Progress, after: Progress) -> None:
        producer = self.opened.producer
        producer.begin()
        try:
            self.delivery.on_step(SendStep.BEGUN)
            for position, change in enumerate(batch, start=before.total):
                producer.produce(builder.build(change, position))
                self.delivery.on_step(SendStep.PRODUCED)
            producer.commit(after)
        except BaseException:
            producer.abort()
            raise
        self.opened.progress = after
        self.delivery.on_step(SendStep.COMMITTED)

    def _origin(self, progress: Progress) -> RecordSource:
        delivery = self.delivery
        stamp = delivery.stamp
        published_at: datetime = stamp.committed_at
        if progress.run != stamp.run:
            earlier = (one for one in delivery.catalog.stamps(delivery.table) if one.run == progress.run)
            published_at = next(earlier, stamp).committed_at
        return RecordSource(
            delivery.project,
            delivery.publication.name,
            delivery.publication.line,
            delivery.contract,
            delivery.topic,
            progress.run,
            published_at,
            self.schema.address if self.schema else None,
        )

    def _tag(self, progress: Progress) -> None:
        """Keep the snapshot that was sent from expiring, whatever the retention: the next delivery compares with it."""
        delivery = self.delivery
        state = delivery.catalog.load(delivery.table)
        tag = f"{_TAG}{delivery.topic.name}"
        if state is None or state.history.tags.get(tag) == progress.until:
            return
        with suppress(Conflict):  # the next delivery moves it
            delivery.catalog.commit(delivery.table, Commit(tags={tag: progress.until}))
        self.delivery.on_step(SendStep.TAGGED)
