"""Topics as the brokers have them: their ids, and the offsets of their partitions. Nothing is read or written."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from treaty.errors import MissingExtra, NotAllowed, NotFound, TreatyError, Unavailable
from treaty.kafka.connection import Connection, more_specific
from treaty.suggestions import did_you_mean

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

T = TypeVar("T")
CONNECT_TIMEOUT_S = 5.0
REQUEST_TIMEOUT_S = 15.0
_ATTEMPT_S = 1.0


@dataclass(frozen=True)
class OffsetRange:
    """Offsets of a partition from `first` up to, but not including, `end`."""

    first: int
    end: int

    @property
    def length(self) -> int:
        """Number of offsets."""
        return max(0, self.end - self.first)


@dataclass(frozen=True)
class TopicState:
    """A topic, its id, which is another one after it was created again, and what its partitions have."""

    name: str
    id: str
    partitions: Mapping[int, OffsetRange]


class TopicReader:
    """Asks brokers about topics; errors name the topic, the brokers and the setting to look at."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._problem: KafkaError | None = None
        self._admin = self._create_client()

    def describe(self, names: Collection[str]) -> tuple[TopicState, ...]:
        """Return the state of topics; one that does not exist raises `NotFound`."""
        from confluent_kafka import TopicCollection

        if not names:
            return ()
        shown = ", ".join(sorted(names))
        futures = self._admin.describe_topics(TopicCollection(sorted(names)), request_timeout=REQUEST_TIMEOUT_S)
        described = {name: self._result(future, name) for name, future in futures.items()}
        partitions = {name: [part.id for part in topic.partitions] for name, topic in described.items()}
        firsts = self._offsets(partitions, "earliest", shown)
        ends = self.end_offsets(partitions)
        return tuple(
            TopicState(
                name,
                str(described[name].topic_id),
                {part: OffsetRange(firsts[name, part], ends[name, part]) for part in sorted(partitions[name])},
            )
            for name in sorted(described)
        )

    def end_offsets(self, partitions: Mapping[str, Iterable[int]]) -> dict[tuple[str, int], int]:
        """Return the offset after the last committed record of partitions, by topic and partition."""
        return self._offsets(partitions, "latest", ", ".join(sorted(partitions)))

    def find(self, topic: str, is_wanted: Callable[[str], bool] | None = None) -> tuple[str, ...]:
        """Return a topic if it exists, or with `is_wanted` all topics for which it holds; connects to the brokers."""
        from confluent_kafka import KafkaError

        names = self._list(topic)
        if is_wanted is not None:
            return tuple(sorted(name for name in names if is_wanted(name)))
        if topic not in names:
            found = self._list(topic, alone=True).get(topic)
            if found is not None and found.code() in (
                KafkaError.TOPIC_AUTHORIZATION_FAILED,
                KafkaError.UNKNOWN_TOPIC_OR_PART,
            ):
                raise self._error(found, topic, names)
            raise self._unknown(topic, names)
        return (topic,)

    def _list(self, topic: str, alone: bool = False) -> dict[str, KafkaError | None]:
        """Return the topics that the brokers list. While they start, this is tried again."""
        from confluent_kafka import KafkaError, KafkaException

        deadline = time.monotonic() + CONNECT_TIMEOUT_S
        hopeless = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
        while True:
            try:
                listed = (
                    self._admin.list_topics(topic, timeout=_ATTEMPT_S)
                    if alone
                    else self._admin.list_topics(timeout=_ATTEMPT_S)
                )
                return {name: found.error for name, found in listed.topics.items()}
            except KafkaException as error:
                self._admin.poll(0)
                problem = self._problem or error.args[0]
                if problem.code() in hopeless or time.monotonic() > deadline:
                    raise self._error(problem, topic) from None

    def _offsets(self, partitions: Mapping[str, Iterable[int]], which: str, shown: str) -> dict[tuple[str, int], int]:
        """Return the first offset of each partition, or the one after the last committed record."""
        from confluent_kafka import IsolationLevel, TopicPartition
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        spec: Any = OffsetSpec
        at = spec.earliest() if which == "earliest" else spec.latest()
        wanted = {TopicPartition(name, part): at for name, parts in partitions.items() for part in parts}
        futures = self._admin.list_offsets(
            wanted, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=REQUEST_TIMEOUT_S
        )
        return {(part.topic, part.partition): self._result(future, shown).offset for part, future in futures.items()}

    def _result(self, future: Future[T], topic: str) -> T:
        from confluent_kafka import KafkaException

        try:
            return future.result(REQUEST_TIMEOUT_S + 5)
        except KafkaException as error:
            raise self._error(error.args[0], topic) from None
        except TimeoutError:
            raise self._unreachable(topic, "no answer in time") from None

    def _create_client(self) -> AdminClient:
        try:
            from confluent_kafka import KafkaException
            from confluent_kafka.admin import AdminClient
        except ModuleNotFoundError:
            raise MissingExtra("a source with a topic", "kafka") from None
        quiet: dict[str, Any] = {"log_level": 0, "error_cb": self._note, "reconnect.backoff.max.ms": 500}
        try:
            return AdminClient({**self._connection.client_settings(), **quiet})
        except (KafkaException, ValueError, TypeError) as error:
            reason = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            raise Unavailable(f"{self._connection.at}: invalid security settings: {reason}") from None

    def _note(self, problem: KafkaError) -> None:
        self._problem = more_specific(self._problem, problem)

    def _error(self, error: KafkaError, topic: str, known: Collection[str] = ()) -> TreatyError:
        from confluent_kafka import KafkaError

        at, bootstrap, text = self._connection.at, self._connection.bootstrap, error.str()
        code = error.code()
        if code in (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL):
            return NotAllowed(
                f"the brokers at {bootstrap} refused to sign in for topic {topic}: {text}; "
                f"check the variables that security names in {at}"
            )
        if code in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED):
            return no_permission(self._connection, topic)
        if code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            return self._unknown(topic, known)
        return self._unreachable(topic, text)

    def _unknown(self, topic: str, known: Collection[str]) -> NotFound:
        hint = did_you_mean(topic, [name for name in known if not name.startswith("__")], "create it")
        where = f"{hint}, or correct the topic in {self._connection.at}"
        return NotFound(f"there is no topic {topic} at {self._connection.bootstrap} that may be read", where)

    def _unreachable(self, topic: str, reason: str) -> Unavailable:
        settings = "bootstrap and security.protocol" if self._connection.security else "bootstrap"
        return Unavailable(
            f"the brokers at {self._connection.bootstrap} cannot be reached for topic {topic}: {reason}; "
            f"check that they run, and {settings} in {self._connection.at}"
        )


def no_permission(connection: Connection, topic: str) -> NotAllowed:
    """Return the error for a topic that may not be read."""
    return NotAllowed(
        f"no permission to read topic {topic} at {connection.bootstrap}; allow the user of security in {connection.at} "
        "to describe and read it"
    )
