"""Waiting for records: returns as soon as a topic has one that was not read yet, without a pause in between."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treaty.errors import MissingExtra
from treaty.kafka.connection import Connection

if TYPE_CHECKING:
    from confluent_kafka import Consumer

POLL_S = 0.5
"""How often an interruption by the user is noticed while nothing arrives."""
END_TIMEOUT_S = 2.0


@dataclass(frozen=True)
class Position:
    """The offset of the next record of a partition that a source reads."""

    source: str
    topic: str
    partition: int
    offset: int


class ArrivalWatch:
    """Watches the topics at some brokers. Records are not kept: runs read them again."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._consumers = {connection.bootstrap: _consumer(connection) for connection in connections}

    def wait(self, positions: Mapping[str, Sequence[Position]], seconds: float) -> frozenset[str]:
        """Return the sources with records at or after their positions; none if none arrive in time.

        `positions` are by the address of the brokers, as connections have it.
        """
        deadline = time.monotonic() + seconds
        for bootstrap, consumer in self._consumers.items():
            _assign(consumer, positions.get(bootstrap, ()))
        while True:
            found = {
                source
                for bootstrap, consumer in self._consumers.items()
                for source in self._poll(
                    consumer,
                    positions.get(bootstrap, ()),
                    min(POLL_S, max(0.0, deadline - time.monotonic())) / len(self._consumers),
                )
            }
            if found or time.monotonic() >= deadline:
                return frozenset(found)

    @staticmethod
    def _poll(consumer: Consumer, positions: Sequence[Position], seconds: float) -> frozenset[str]:
        """Return the sources that read one of the topics with a record."""
        messages = consumer.consume(num_messages=100, timeout=0)
        if not messages and (message := consumer.poll(seconds)) is not None:
            messages = [message, *consumer.consume(num_messages=100, timeout=0)]
        topics = {message.topic() for message in messages if message.error() is None}
        if topics:  # a batch may hold the backlog of one topic only
            topics |= {place.topic for place in positions if place.topic not in topics and _has_more(consumer, place)}
        return frozenset(position.source for position in positions if position.topic in topics)

    def close(self) -> None:
        """Close the connections."""
        for consumer in self._consumers.values():
            consumer.close()


def _has_more(consumer: Consumer, place: Position) -> bool:
    """Tell whether a partition goes on after a position; False if the brokers do not answer."""
    from confluent_kafka import KafkaException, TopicPartition

    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(place.topic, place.partition), timeout=END_TIMEOUT_S)
    except KafkaException:
        return False
    return bool(end > place.offset)


def _assign(consumer: Consumer, positions: Sequence[Position]) -> None:
    from confluent_kafka import TopicPartition

    offsets: dict[tuple[str, int], int] = {}
    for position in positions:
        place = position.topic, position.partition
        offsets[place] = min(position.offset, offsets.get(place, position.offset))
    consumer.assign([TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()])


def _consumer(connection: Connection) -> Consumer:
    try:
        from confluent_kafka import Consumer
    except ModuleNotFoundError:
        raise MissingExtra("a source with a topic", "kafka") from None
    settings: dict[str, Any] = {
        **connection.client_settings(),
        "group.id": "treaty-watch",  # partitions are assigned, and nothing is committed
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "fetch.wait.max.ms": 500,  # the brokers answer as soon as there is a record
        "max.partition.fetch.bytes": 65_536,
        "log_level": 0,
    }
    return Consumer(settings)
