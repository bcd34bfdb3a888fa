"""Kafka for tests: one broker for all processes of a test run, and topics in it."""

from __future__ import annotations

import fcntl
import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.certificates import write_certificate
from treaty.kafka.broker import HOST, free_port, start_broker, stop_broker

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

USER, PASSWORD = "shop", "shop-password"
"""A user of the listeners with passwords, who may do nothing unless a test grants it."""


@dataclass(frozen=True)
class Record:
    """A record to produce."""

    value: bytes | None
    key: bytes | None = None
    partition: int = 0
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True)
class Kafka:
    """A broker. Anybody may use `bootstrap`; the other addresses ask for a user and a password by SASL."""

    bootstrap: str
    secured: str
    """Without encryption; the mechanism is PLAIN."""
    encrypted: str = ""
    """With TLS; the mechanism is SCRAM-SHA-512."""
    authority: str = ""
    """The file with the certificate that `encrypted` shows."""

    def environment(self, address: str, **changed: str) -> dict[str, str]:
        """Return the variables to sign in at an address, by the names of the security settings."""
        by_protocol = {
            self.secured: {"protocol": "SASL_PLAINTEXT", "mechanism": "PLAIN"},
            self.encrypted: {"protocol": "SASL_SSL", "mechanism": "SCRAM-SHA-512", "ca": self.authority},
        }
        return {**by_protocol[address], "user": USER, "password": PASSWORD, **changed}

    def create_topic(self, name: str = "orders", partitions: int = 1, **config: str) -> str:
        """Create a topic whose name starts with `name` and is not used by another test; return it."""
        topic = f"{name}.{uuid.uuid4().hex[:10]}"
        self.recreate_topic(topic, partitions, **config)
        return topic

    def recreate_topic(self, topic: str, partitions: int = 1, **config: str) -> None:
        """Create a topic with exactly this name."""
        from confluent_kafka.cimpl import NewTopic

        settings = {name.replace("_", "."): value for name, value in config.items()}
        admin = self.admin()
        admin.create_topics([NewTopic(topic, partitions, 1, config=settings)])[topic].result(timeout=30)

    def delete_topic(self, topic: str) -> None:
        """Delete a topic, and wait until the broker no longer lists it."""
        admin = self.admin()
        admin.delete_topics([topic])[topic].result(timeout=30)
        deadline = time.monotonic() + 30
        while topic in admin.list_topics(timeout=10).topics:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        """Delete the records before an offset, as retention does."""
        from confluent_kafka import TopicPartition

        admin = self.admin()
        for future in admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result(timeout=30)

    def produce(self, topic: str, records: Iterable[Record | bytes]) -> None:
        """Append records in this order; a value alone goes to partition 0, without a key."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.bootstrap, "message.max.bytes": 16_000_000, "linger.ms": 5})
        failures = []
        for record in records:
            sent = record if isinstance(record, Record) else Record(record)
            producer.produce(
                topic,
                sent.value,
                sent.key,
                sent.partition,
                headers=list(sent.headers),
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
            producer.poll(0)
        assert producer.flush(30) == 0
        assert failures == []

    def produce_keyed(self, records: Iterable[tuple[str, bytes | None, bytes]]) -> None:
        """Append records, given as topic, key and value, with a producer that chooses partitions by key."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.bootstrap, "message.max.bytes": 16_000_000, "linger.ms": 5})
        failures: list[object] = []
        for topic, key, value in records:
            producer.produce(topic, value, key, on_delivery=lambda error, _: failures.append(error) if error else None)
            producer.poll(0)
        assert producer.flush(60) == 0
        assert failures == []

    def add_partitions(self, topic: str, total: int) -> None:
        """Add partitions to a topic, so that it has this many and keys move to others."""
        from confluent_kafka.cimpl import NewPartitions

        admin = self.admin()
        admin.create_partitions([NewPartitions(topic, total)])[topic].result(timeout=30)

    def consume(self, topic: str, isolation: str = "read_committed") -> list[tuple[bytes | None, bytes | None]]:
        """Return the keys and values of all records of a topic, partition by partition."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": f"test-{uuid.uuid4().hex}",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        try:
            partitions = sorted(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
            consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
            found: dict[int, list[tuple[bytes | None, bytes | None]]] = {partition: [] for partition in partitions}
            at_end: set[int] = set()
            while len(at_end) < len(partitions):
                message = consumer.poll(30)
                assert message is not None, f"{topic} was not read to its end within 30 s"
                partition = message.partition()
                assert partition is not None
                if message.error() is None:
                    found[partition].append((message.key(), message.value()))
                else:
                    at_end.add(partition)
            return [record for partition in partitions for record in found[partition]]
        finally:
            consumer.close()

    def allow(self, user: str, topic: str, operation: str) -> None:
        """Allow a user an operation on a topic, such as READ."""
        from confluent_kafka.admin import (  # type: ignore[attr-defined]
            AclBinding,
            AclOperation,
            AclPermissionType,
            ResourcePatternType,
            ResourceType,
        )

        binding = AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        admin = self.admin()
        admin.create_acls([binding])[binding].result(timeout=30)

    def admin(self) -> AdminClient:
        """Return a client for administration, which must live until its answers have arrived."""
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.bootstrap})


@contextmanager
def kafka_broker(folder: Path) -> Iterator[Kafka]:
    """Use the broker of a folder together with other processes: the first starts it, the last stops it."""
    folder.mkdir(exist_ok=True)
    with (folder / "users").open("w") as users:
        with _exclusive(folder / "starting"):
            fcntl.flock(users, fcntl.LOCK_SH)
            kafka = _start(folder)
        yield kafka
        with _exclusive(folder / "starting"):
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # another process still uses it
            stop_broker(folder)


@contextmanager
def _exclusive(file: Path) -> Iterator[None]:
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start(folder: Path) -> Kafka:
    addresses = folder / "addresses.json"
    is_new = not addresses.is_file()
    if is_new:
        plain, secured, encrypted = (f"{HOST}:{free_port()}" for _ in range(3))
        known = Kafka(plain, secured, encrypted, _write_key_store(folder))
        addresses.write_text(json.dumps(asdict(known)))
    else:
        known = Kafka(**json.loads(addresses.read_text()))
    modules = "org.apache.kafka.common.security"
    properties = {
        "listeners": f"SECURED://{known.secured},ENCRYPTED://{known.encrypted}",
        "advertised.listeners": f"SECURED://{known.secured},ENCRYPTED://{known.encrypted}",
        "listener.security.protocol.map": "SECURED:SASL_PLAINTEXT,ENCRYPTED:SASL_SSL",
        "listener.name.secured.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.encrypted.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.secured.plain.sasl.jaas.config": (
            f'{modules}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        ),
        "listener.name.encrypted.scram-sha-512.sasl.jaas.config": f"{modules}.scram.ScramLoginModule required;",
        "listener.name.encrypted.ssl.keystore.type": "PEM",
        "listener.name.encrypted.ssl.keystore.location": str(folder / _KEY_STORE),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    start_broker(folder, int(known.bootstrap.rpartition(":")[2]), properties=properties)
    if is_new:
        _add_user(known)
    return known


_KEY_STORE = "broker.pem"


def _write_key_store(folder: Path) -> str:
    """Write a certificate with its key for the broker, and return the file of the certificate alone."""
    tls = write_certificate(folder, "kafka")
    (folder / _KEY_STORE).write_bytes(tls.key.read_bytes() + tls.certificate.read_bytes())
    return str(tls.certificate)


def _add_user(kafka: Kafka) -> None:
    """Let the user sign in by SCRAM, whose credentials are kept by the broker."""
    from confluent_kafka.admin import (  # type: ignore[attr-defined]
        ScramCredentialInfo,
        ScramMechanism,
        UserScramCredentialUpsertion,
    )

    kind = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    admin = kafka.admin()
    added = admin.alter_user_scram_credentials([UserScramCredentialUpsertion(USER, kind, PASSWORD.encode())])
    added[USER].result(timeout=30)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Return a broker that all tests of the run share."""
    folder = tmp_path_factory.getbasetemp()
    with kafka_broker((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "kafka") as broker:
        yield broker
