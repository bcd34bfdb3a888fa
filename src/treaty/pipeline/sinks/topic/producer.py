"""The transactional producer of a topic, and the progress that it writes in the same transactions.

Progress is one record in a topic of its own, with one partition. Only this producer writes to it: a new producer with
the same transactional id first ends the transaction of the previous one, so that the last committed record is what
was sent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from treaty.errors import Conflict, TreatyError
from treaty.pipeline.sinks.topic.cluster import PROGRESS_SUFFIX, REQUEST_TIMEOUT_S, Cluster
from treaty.pipeline.sinks.topic.records import Record

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, Producer

TRANSACTION_TIMEOUT_S = 60.0
"""After this time the brokers abort the transaction of a producer that has ended."""
_RECENT_OFFSETS = 64


@dataclass(frozen=True)
class Progress:
    """What was sent: the changes of a table from one snapshot to another, up to a position in one of their parts."""

    table: str
    """The id of the table."""
    topic: str
    """The id of the topic."""
    run: int
    since: int | None
    until: int
    parts: int = 1
    part: int = 0
    """The part that is being sent; the parts before it are complete."""
    sent: int = 0
    """Records of this part that were sent."""
    total: int = 0
    """Records of all parts that were sent."""

    @property
    def is_complete(self) -> bool:
        """Whether every part was sent."""
        return self.part >= self.parts


class TopicProducer:
    """Sends records and progress in transactions."""

    def __init__(self, cluster: Cluster, transactional_id: str, max_bytes: int) -> None:
        from confluent_kafka import Producer

        self._cluster = cluster
        self._failed: KafkaError | None = None
        settings = cluster.client_settings(
            **{
                "transactional.id": transactional_id,
                "transaction.timeout.ms": int(TRANSACTION_TIMEOUT_S * 1000),
                "message.max.bytes": max(max_bytes, 1_000),
                "partitioner": "murmur2_random",  # as Java producers, so that others can write to the same partitions
                "compression.type": "lz4",
                "linger.ms": 5,
            }
        )
        self._producer: Producer = cluster.translated(lambda: Producer(settings))
        self._progress_topic = f"{cluster.topic.name}{PROGRESS_SUFFIX}"

    def take_over(self) -> None:
        """End what an earlier producer of this topic has left open; that producer cannot send anything more."""
        self._cluster.translated(lambda: self._producer.init_transactions(REQUEST_TIMEOUT_S))

    def begin(self) -> None:
        """Begin a transaction."""
        self._cluster.translated(self._producer.begin_transaction)

    def produce(self, record: Record) -> None:
        """Add a record to the transaction."""
        from confluent_kafka import KafkaException

        where: dict[str, Any] = {} if record.partition is None else {"partition": record.partition}
        while True:
            try:
                self._producer.produce(
                    self._cluster.topic.name,
                    record.value,
                    record.key,
                    headers=list(record.headers),
                    on_delivery=self._note_delivery,
                    **where,
                )
                break
            except BufferError:
                self._producer.poll(0.5)
            except KafkaException as error:
                size = len(record.value or b"")
                raise self._sized(error.args[0], record.key, size) from None
        self._producer.poll(0)

    def _sized(self, error: KafkaError, key: bytes, size: int) -> TreatyError:
        from confluent_kafka import KafkaError

        raised = self._cluster.error(error)
        if error.code() != KafkaError.MSG_SIZE_TOO_LARGE:
            return raised
        return Conflict(f"the record of {key.decode(errors='replace')!r} has {size:,} bytes: {raised}")

    def _note_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None and self._failed is None:
            self._failed = error

    def commit(self, progress: Progress) -> None:
        """Write the progress and commit the transaction, both or neither."""
        from confluent_kafka import KafkaException

        try:
            self._producer.produce(
                self._progress_topic, json.dumps(asdict(progress)), "progress", on_delivery=self._note_delivery
            )
            self._producer.commit_transaction(TRANSACTION_TIMEOUT_S)  # waits until all records are acknowledged
        except KafkaException as error:
            raise self._cluster.error(self._failed or error.args[0]) from None

    def abort(self) -> None:
        """Abort the transaction, if there is one; the brokers do so by themselves if this fails."""
        from confluent_kafka import KafkaException

        self._failed = None
        with suppress(KafkaException):
            self._producer.purge()
            self._producer.abort_transaction(REQUEST_TIMEOUT_S)

    def read_progress(self) -> Progress | None:
        """Return what was sent last; None if nothing was. Call `take_over` first."""
        consumer = self._consumer()
        try:
            return self._cluster.translated(
                lambda: _last_progress(consumer, self._progress_topic), "read the progress of"
            )
        finally:
            consumer.close()

    def holds_records(self, partitions: int) -> bool:
        """Tell whether the topic has any committed record."""
        consumer = self._consumer()
        try:
            return self._cluster.translated(
                lambda: any(
                    _read(consumer, self._cluster.topic.name, partition, 0, most=1) for partition in range(partitions)
                ),
                "read",
            )
        finally:
            consumer.close()

    def _consumer(self) -> Consumer:
        from confluent_kafka import Consumer

        settings = self._cluster.client_settings(
            **{
                "group.id": "treaty-progress",  # partitions are assigned and nothing is committed
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 10,
                "auto.offset.reset": "earliest",
            }
        )
        return self._cluster.translated(lambda: Consumer(settings))


def _last_progress(consumer: Consumer, topic: str) -> Progress | None:
    """Read the last committed record; aborted transactions may have left many offsets after it."""
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=REQUEST_TIMEOUT_S)
    span = _RECENT_OFFSETS
    while True:
        start = max(low, high - span)
        values = _read(consumer, topic, 0, start)
        if values:
            return Progress(**json.loads(values[-1]))
        if start <= low:
            return None
        span *= 16


def _read(consumer: Consumer, topic: str, partition: int, offset: int, most: int | None = None) -> Sequence[bytes]:
    """Return the committed values of a partition from an offset to its end."""
    from confluent_kafka import KafkaError, KafkaException, TopicPartition

    consumer.assign([TopicPartition(topic, partition, offset)])
    values: list[bytes] = []
    while most is None or len(values) < most:
        message = consumer.poll(REQUEST_TIMEOUT_S)
        if message is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        error = message.error()
        if error is not None and error.code() == KafkaError._PARTITION_EOF:
            break
        if error is not None:
            raise KafkaException(error)
        values.append(message.value() or b"")
    return values
