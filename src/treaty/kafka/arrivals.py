"""Waiting for records: returns as soon as a topic has one that was not read yet, without a pause in between."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treaty.errors import MissingExtra, TreatyError
from treaty.kafka.connection import Connection
from treaty.kafka.topics import TopicReader

if TYPE_CHECKING:
    from confluent_kafka import Consumer

POLL_S = 0.5
"""How often an interruption by the user is noticed while nothing arrives."""


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
        self._watched = {connection.bootstrap: _WatchedBrokers(connection) for connection in connections}

    def wait(self, positions: Mapping[str, Sequence[Position]], seconds: float) -> frozenset[str]:
        """Return the sources with records at or after their positions; none if none arrive in time.

        `positions` are by the address of the brokers, as connections have it.
        """
        deadline = time.monotonic() + seconds
        for bootstrap, watched in self._watched.items():
            watched.assign(positions.get(bootstrap, ()))
        while True:
            share = min(POLL_S, max(0.0, deadline - time.monotonic())) / len(self._watched)
            found = {source for watched in self._watched.values() for source in watched.poll(share)}
            if found or time.monotonic() >= deadline:
                return frozenset(found)

    def close(self) -> None:
        """Close the connections."""
        for watched in self._watched.values():
            watched.close()


class _WatchedBrokers:
    """The topics at the brokers of one connection: a consumer notices the first record, and then all are compared."""

    def __init__(self, connection: Connection) -> None:
        self._consumer = _consumer(connection)
        self._topics = TopicReader(connection)
        self._positions: Sequence[Position] = ()

    def assign(self, positions: Sequence[Position]) -> None:
        """Watch for records at or after some positions."""
        self._positions = positions
        _assign(self._consumer, positions)

    def poll(self, seconds: float) -> frozenset[str]:
        """Return the sources that read a topic with a record; none if none arrives in time."""
        message = self._consumer.poll(seconds)
        if message is None or message.error() is not None:
            return frozenset()
        topics = {message.topic(), *self._topics_with_records()}  # the first may be one of a backlog
        return frozenset(position.source for position in self._positions if position.topic in topics)

    def _topics_with_records(self) -> set[str]:
        """Return the topics that go on after a position; none if the brokers do not answer."""
        partitions: dict[str, set[int]] = {}
        for position in self._positions:
            partitions.setdefault(position.topic, set()).add(position.partition)
        try:
            ends = self._topics.end_offsets(partitions)
        except TreatyError:
            return set()
        return {place.topic for place in self._positions if ends[place.topic, place.partition] > place.offset}

    def close(self) -> None:
        """Close the connections."""
        self._consumer.close()


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
