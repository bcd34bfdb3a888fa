"""The brokers of a topic: settings of clients, topics that are created as the records need them, and clear errors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from treaty.errors import Conflict, MissingExtra, NotAllowed, TreatyError, Unavailable
from treaty.kafka.connection import Connection, more_specific
from treaty.pipeline.project.declarations import Records, Topic

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

T = TypeVar("T")
REQUEST_TIMEOUT_S = 20.0
PROGRESS_SUFFIX = ".progress"
DEFAULT_MAX_BYTES = 1_048_588
"""The limit of a topic that does not state one."""


@dataclass(frozen=True)
class TopicState:
    """A topic as the brokers have it."""

    id: str
    partitions: int
    max_bytes: int


@dataclass
class Cluster:
    """The brokers of one topic; errors name the topic, the brokers and the setting to look at."""

    topic: Topic
    connection: Connection
    last_error: KafkaError | None = field(default=None, init=False)

    @property
    def at(self) -> str:
        """Where the publication is declared."""
        return self.connection.at

    def client_settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a client."""
        return {
            **self.connection.client_settings(),
            "error_cb": self._note_error,
            "log_level": 0,
            **more,
        }

    def _note_error(self, error: KafkaError) -> None:
        self.last_error = more_specific(self.last_error, error)

    def ensure_topics(self, records: Records) -> TopicState:
        """Return the state of the topic; create it and the topic of its progress if they are missing."""
        admin = self._admin()
        existing = self._list_topics(admin)
        progress = f"{self.topic.name}{PROGRESS_SUFFIX}"
        policy = "compact" if records is Records.UPSERTS else "delete"
        if self.topic.name not in existing:
            self._create(admin, self.topic.name, self.topic.partitions, {"cleanup.policy": policy})
        if progress not in existing:
            self._create(admin, progress, 1, {"cleanup.policy": "compact", "segment.bytes": str(16 * 1024 * 1024)})
        config = self._config(admin)
        found = config.get("cleanup.policy", policy)
        if records is Records.STREAM and "compact" in found:
            raise Conflict(
                f"the topic {self.topic.name} at {self.topic.bootstrap} has cleanup.policy={found}, which would remove "
                f"records of a stream; set it to delete, or declare records: upserts in {self.at}"
            )
        if records is Records.UPSERTS and "compact" not in found:
            raise Conflict(
                f"the topic {self.topic.name} at {self.topic.bootstrap} has cleanup.policy={found}, which would remove "
                "the rows of keys that have not changed for long; set it to compact, or declare records: stream in "
                f"{self.at}"
            )
        state = self._describe(admin)
        return TopicState(*state, int(config.get("max.message.bytes", DEFAULT_MAX_BYTES)))

    def _admin(self) -> AdminClient:
        try:
            from confluent_kafka.admin import AdminClient
        except ModuleNotFoundError:
            raise MissingExtra("a publication as: topic", "kafka") from None
        return self.translated(lambda: AdminClient(self.client_settings()))

    def _list_topics(self, admin: AdminClient) -> set[str]:
        def list_all() -> set[str]:
            try:
                return set(admin.list_topics(timeout=REQUEST_TIMEOUT_S).topics)
            finally:
                admin.poll(0)

        return self.translated(list_all)

    def _create(self, admin: AdminClient, name: str, partitions: int, config: dict[str, str]) -> None:
        from confluent_kafka import KafkaError, KafkaException
        from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

        wanted = NewTopic(name, partitions, self.topic.replication or -1, config=config)
        try:
            _result(admin.create_topics([wanted], request_timeout=REQUEST_TIMEOUT_S)[name])
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self.error(error.args[0], "create") from None

    def _config(self, admin: AdminClient) -> dict[str, str]:
        from confluent_kafka.admin import ConfigResource  # type: ignore[attr-defined]

        resource = ConfigResource(ConfigResource.Type.TOPIC, self.topic.name)
        described = admin.describe_configs([resource], request_timeout=REQUEST_TIMEOUT_S)[resource]
        entries = self.translated(lambda: _result(described), "read the settings of")
        return {name: str(entry.value) for name, entry in entries.items()}

    def _describe(self, admin: AdminClient) -> tuple[str, int]:
        from confluent_kafka import TopicCollection

        described = admin.describe_topics(TopicCollection([self.topic.name]), request_timeout=REQUEST_TIMEOUT_S)
        found = self.translated(lambda: _result(described[self.topic.name]), "describe")
        return str(found.topic_id), len(found.partitions)

    def translated(self, call: Callable[[], T], doing: str = "") -> T:
        """Return the result of a call to Kafka; raise its errors as errors of Treaty."""
        from confluent_kafka import KafkaException

        try:
            return call()
        except KafkaException as error:
            raise self.error(error.args[0], doing) from None
        except ValueError as error:  # settings of the client
            raise Unavailable(f"{self.at}: the settings of Kafka are not valid: {error}") from None

    def error(self, error: KafkaError, doing: str = "") -> TreatyError:
        """Return the error of Treaty for an error of Kafka."""
        from confluent_kafka import KafkaError

        if error.code() in _UNREACHABLE(KafkaError) and self.last_error is not None:
            error = self.last_error
        name, bootstrap = self.topic.name, self.topic.bootstrap
        code, text = error.code(), error.str()
        if code in _AUTHENTICATION(KafkaError):
            return NotAllowed(
                f"the brokers at {bootstrap} refused to sign in for the topic {name}: {text}; "
                f"check topic.security in {self.at}"
            )
        if code in _PERMISSION(KafkaError):
            what = doing or "write to"
            return NotAllowed(
                f"no permission to {what} the topic {name} at {bootstrap}: {text}; allow the user of topic.security in "
                f"{self.at} to write to {name} and {name}{PROGRESS_SUFFIX} and to use the transactional id"
            )
        if code in _UNREACHABLE(KafkaError):
            return Unavailable(
                f"the brokers at {bootstrap} cannot be reached for the topic {name}: {text}; "
                f"check topic.bootstrap in {self.at}"
            )
        if code in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED):
            return Conflict(f"another process sends to the topic {name} at {bootstrap}, so this one has stopped")
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            return Conflict(
                f"a record is larger than the topic {name} at {bootstrap} accepts: {text}; "
                f"raise max.message.bytes of the topic, or publish less in {self.at}"
            )
        return Unavailable(f"cannot {doing or 'write to'} the topic {name} at {bootstrap}: {text}; see {self.at}")


def _UNREACHABLE(errors: type[KafkaError]) -> tuple[int, ...]:  # noqa: N802
    return (
        errors._TRANSPORT,
        errors._ALL_BROKERS_DOWN,
        errors._RESOLVE,
        errors._TIMED_OUT,
        errors._MSG_TIMED_OUT,
        errors.REQUEST_TIMED_OUT,
        errors.COORDINATOR_NOT_AVAILABLE,
    )


def _AUTHENTICATION(errors: type[KafkaError]) -> tuple[int, ...]:  # noqa: N802
    return errors._AUTHENTICATION, errors.SASL_AUTHENTICATION_FAILED, errors._SSL


def _PERMISSION(errors: type[KafkaError]) -> tuple[int, ...]:  # noqa: N802
    return (
        errors.TOPIC_AUTHORIZATION_FAILED,
        errors.GROUP_AUTHORIZATION_FAILED,
        errors.CLUSTER_AUTHORIZATION_FAILED,
        errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    )


def _result(future: Future[T]) -> T:
    return future.result(REQUEST_TIMEOUT_S + 5)
