"""Deliveries to topics on a real broker: what readers of committed records get, and what stops a delivery."""

from __future__ import annotations

import io
import json
import signal
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from fastavro import schemaless_reader

from tests.kafka import PASSWORD, USER, Kafka
from tests.pipeline.sinks.topic.publishing import PublishedTable, release, releases, send_until_killed
from treaty.cli.registry_connection import IfMissing, open_local_registry
from treaty.cli.sink_environment import schema_registrar
from treaty.contracts.values import FrozenMap
from treaty.errors import Conflict, NotAllowed, NotFound, Unavailable
from treaty.pipeline.project.declarations import Records, Topic, ValueFormat
from treaty.pipeline.sinks.topic.cluster import PROGRESS_SUFFIX
from treaty.pipeline.sinks.topic.delivery import topic_schema
from treaty.settings import load_settings


@pytest.fixture
def topic(kafka: Kafka) -> Topic:
    name = kafka.create_topic("releases.v1")
    kafka.delete_topic(name)  # only the name is wanted: a delivery creates its topics
    return Topic(name, kafka.bootstrap)


@pytest.fixture
def table(tmp_path: Path, topic: Topic) -> PublishedTable:
    return PublishedTable(tmp_path, topic)


def consumed(kafka: Kafka, topic: Topic) -> list[tuple[str, Any]]:
    return [
        (key.decode(), None if value is None else json.loads(value))
        for key, value in kafka.consume(topic.name)
        if key is not None
    ]


def numbers(kafka: Kafka, topic: Topic) -> list[tuple[str, int]]:
    return [(key, value["release"]) for key, value in consumed(kafka, topic)]


def test_a_stream_has_every_row_once_keyed_by_the_ordering_key_in_its_sequence(
    kafka: Kafka, table: PublishedTable
) -> None:
    table.publish(1, [release("A", 2), release("B", 1), release("A", 1)])
    first = table.send()
    table.publish(2, [release("A", 3)])
    second = table.send()
    again = table.send()

    assert first
    assert second
    assert (first.records, second.records, again) == (3, 1, None)
    assert numbers(kafka, table.topic) == [("A", 1), ("A", 2), ("B", 1), ("A", 3)]
    assert consumed(kafka, table.topic)[0][1] == {
        "order_id": "A",
        "release": 1,
        "amount": 10.00,
        "placed_at": "2026-03-01T12:30:00.000000Z",
        "lines": [{"sku": "s-1", "pieces": 2}],
    }


def test_upserts_are_keyed_by_the_primary_key_and_deletes_are_tombstones_in_a_compacted_topic(
    kafka: Kafka, tmp_path: Path, topic: Topic
) -> None:
    table = PublishedTable(tmp_path, topic, releases(key=["order_id"]))
    table.publish(1, [release("A", 1), release("B", 1), release("C", 1)])
    table.send()
    table.publish(2, [release("A", 1), release("B", 2)], delete="order_id in ('A', 'B', 'C')")
    table.send()

    assert [(key, value and value["release"]) for key, value in consumed(kafka, topic)] == [
        ("A", 1),
        ("B", 1),
        ("C", 1),
        ("B", 2),
        ("C", None),
    ]
    assert policy(kafka, topic.name) == "compact"


def test_a_stream_says_what_happened_to_each_row(kafka: Kafka, tmp_path: Path, topic: Topic) -> None:
    table = PublishedTable(tmp_path, replace(topic, records=Records.STREAM), releases(key=["order_id"]))
    table.publish(1, [release("A", 1), release("B", 1)])
    table.send()
    table.publish(2, [release("A", 2)], delete="true")
    table.send()

    changes = [
        (key, headers["treaty_change"], headers["treaty_run"]) for key, headers in kafka_headers(kafka, topic.name)
    ]
    assert changes == [
        ("A", "insert", "1"),
        ("B", "insert", "1"),
        ("A", "update", "2"),
        ("B", "delete", "2"),
    ]
    assert policy(kafka, topic.name) == "delete"


def test_headers_name_the_contract_and_the_cloudevents_attributes(kafka: Kafka, table: PublishedTable) -> None:
    table.publish(7, [release("A", 1)])
    table.send()

    ((_, headers),) = kafka_headers(kafka, table.topic.name)
    published_at = table.stamp().committed_at
    assert headers == {
        "treaty_contract": "shop.releases",
        "treaty_version": "1.0.0",
        "treaty_run": "7",
        "treaty_change": "insert",
        "ce_specversion": "1.0",
        "ce_id": "7-0",
        "ce_source": "/shop/releases",
        "ce_type": "shop.releases.v1",
        "ce_time": f"{published_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "ce_subject": "A",
        "content-type": "application/json",
    }


def test_rows_with_one_ordering_key_are_in_one_partition(kafka: Kafka, tmp_path: Path, topic: Topic) -> None:
    table = PublishedTable(tmp_path, replace(topic, partitions=3, records=Records.UPSERTS))
    table.publish(1, [release(order, number) for order in "ABCDEF" for number in (1, 2, 3)])
    table.send()

    partitions: dict[str, set[int]] = {}
    order: dict[str, list[int]] = {}
    for message in messages(kafka, topic.name):
        key = json.loads(message.key())
        partitions.setdefault(key["order_id"], set()).add(message.partition())
        order.setdefault(key["order_id"], []).append(key["release"])
    assert {name: len(found) for name, found in partitions.items()} == dict.fromkeys("ABCDEF", 1)
    assert list(order.values()) == [[1, 2, 3]] * 6
    assert len(set.union(*partitions.values())) > 1


def test_a_sender_killed_at_any_step_loses_and_doubles_nothing(kafka: Kafka, table: PublishedTable) -> None:
    processes = get_context("forkserver")
    processes.set_forkserver_preload(["tests.pipeline.sinks.topic.publishing", "pyiceberg.io.pyarrow"])
    wave = 0
    while True:
        wave += 1
        table.publish(wave, [release("A", 2 * wave + number) for number in range(2)])
        sender = processes.Process(target=send_until_killed, args=(table, wave, 1))
        sender.start()
        sender.join(60)
        assert sender.exitcode in (0, -signal.SIGKILL)
        if sender.exitcode == 0:
            break
        assert wave < 40

    assert wave > 11
    assert numbers(kafka, table.topic) == [("A", number) for number in range(2, 2 * wave + 2)]


def test_an_earlier_sender_that_wakes_up_can_send_nothing_more(kafka: Kafka, table: PublishedTable) -> None:
    table.publish(1, [release("A", 1)])
    interfered: list[str] = []

    def interfere(step: object) -> None:
        if str(step) == "record produced" and not interfered:
            interfered.append("once")
            table.send()

    with pytest.raises(Conflict, match="another process sends to the topic"):
        table.send(on_step=interfere)

    assert numbers(kafka, table.topic) == [("A", 1)]


def test_a_record_that_is_too_large_stops_its_transaction_and_is_named(kafka: Kafka, table: PublishedTable) -> None:
    kafka.recreate_topic(table.topic.name, max_message_bytes="2000")
    huge = {**release("B", 1), "lines": [{"sku": f"sku-{number}", "pieces": 1} for number in range(200)]}
    table.publish(1, [release("A", 1), huge])

    with pytest.raises(Conflict) as caught:
        table.send()

    assert "the record of 'B' has 5,785 bytes" in str(caught.value)
    assert f"larger than the topic {table.topic.name} at {kafka.bootstrap} accepts" in str(caught.value)
    assert "raise max.message.bytes" in str(caught.value)
    assert consumed(kafka, table.topic) == []
    table.publish(2, [{**huge, "lines": []}], delete="order_id = 'B'")
    table.send()
    assert numbers(kafka, table.topic) == [("A", 1), ("B", 1)]


def test_brokers_that_cannot_be_reached_are_named(table: PublishedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.pipeline.sinks.topic.cluster.REQUEST_TIMEOUT_S", 2.0)
    table = replace(table, topic=replace(table.topic, bootstrap="127.0.0.1:1"))
    table.publish(1, [release("A", 1)])

    with pytest.raises(Unavailable) as caught:
        table.send()

    assert f"the brokers at 127.0.0.1:1 cannot be reached for the topic {table.topic.name}" in str(caught.value)
    assert "check topic.bootstrap in publications/releases.yaml:1" in str(caught.value)


SECURITY = FrozenMap(
    {
        "protocol": "SHOP_PROTOCOL",
        "mechanism": "SHOP_MECHANISM",
        "user": "SHOP_USER",
        "password": "SHOP_PASSWORD",
    }
)
VARIABLES = {
    "SHOP_PROTOCOL": "SASL_PLAINTEXT",
    "SHOP_MECHANISM": "PLAIN",
    "SHOP_USER": USER,
    "SHOP_PASSWORD": PASSWORD,
}


def test_a_wrong_password_is_an_error_that_names_the_setting(
    kafka: Kafka, table: PublishedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.pipeline.sinks.topic.cluster.REQUEST_TIMEOUT_S", 2.0)
    table = replace(table, topic=replace(table.topic, bootstrap=kafka.secured, security=SECURITY))
    table.publish(1, [release("A", 1)])

    with pytest.raises(NotAllowed) as caught:
        table.send(environment={**VARIABLES, "SHOP_PASSWORD": "wrong"})

    assert f"the brokers at {kafka.secured} refused to sign in" in str(caught.value)
    assert "check topic.security in publications/releases.yaml:1" in str(caught.value)


def test_a_user_without_permission_is_an_error_that_names_what_to_allow(kafka: Kafka, table: PublishedTable) -> None:
    table = replace(table, topic=replace(table.topic, bootstrap=kafka.secured, security=SECURITY))
    table.publish(1, [release("A", 1)])

    with pytest.raises(NotAllowed) as caught:
        table.send(environment=VARIABLES)

    assert f"no permission to create the topic {table.topic.name} at {kafka.secured}" in str(caught.value)


def test_a_variable_that_is_not_set_is_named(table: PublishedTable) -> None:
    table = replace(table, topic=replace(table.topic, security=SECURITY))
    table.publish(1, [release("A", 1)])

    with pytest.raises(NotFound, match=r"the environment has no SHOP_PASSWORD \(security\.password\)"):
        table.send(environment={name: text for name, text in VARIABLES.items() if name != "SHOP_PASSWORD"})


def test_schemas_are_registered_in_the_registry_of_the_project(kafka: Kafka, table: PublishedTable) -> None:
    folder = table.folder
    (folder / "treaty.yaml").write_text("name: shop\n")
    settings = load_settings(None, start=folder)
    with open_local_registry(settings.parts.registry, settings, IfMissing.CREATE) as registry:
        assert registry.datasets().items == []
    table = replace(table, topic=replace(table.topic, value=ValueFormat.AVRO))
    table.publish(1, [release("A", 1)])
    table.send(register=schema_registrar(settings))

    ((_, value),) = kafka.consume(table.topic.name)
    assert value is not None
    _, schema = topic_schema(table.contract, table.topic)
    read: Any = schemaless_reader(io.BytesIO(value[5:]), json.loads(schema.text), None)
    assert (value[:5], read["order_id"], read["release"]) == (b"\0\0\0\0\x01", "A", 1)


def test_a_schema_registry_that_is_down_stops_the_delivery_before_anything_is_sent(
    kafka: Kafka, table: PublishedTable
) -> None:
    topic = replace(table.topic, value=ValueFormat.AVRO, schema_registry="http://127.0.0.1:1")
    table = replace(table, topic=topic)
    table.publish(1, [release("A", 1)])

    with pytest.raises(Unavailable) as caught:
        table.send(register=schema_registrar(load_settings(None, start=table.folder)))

    assert f"the schema of the topic {topic.name} was not registered at http://127.0.0.1:1, so nothing" in str(
        caught.value
    )
    assert "check topic.schema_registry in publications/releases.yaml:1" in str(caught.value)
    assert topic.name not in kafka.admin().list_topics(timeout=30).topics


def test_avro_without_a_registry_is_refused(table: PublishedTable) -> None:
    table = replace(table, topic=replace(table.topic, value=ValueFormat.AVRO))
    table.publish(1, [release("A", 1)])

    with pytest.raises(Conflict, match="has avro values, whose schema must be registered; set registry in treaty"):
        table.send()


def test_a_topic_with_records_of_others_is_refused(kafka: Kafka, table: PublishedTable) -> None:
    kafka.recreate_topic(table.topic.name)
    kafka.produce(table.topic.name, [b"somebody else's"])
    table.publish(1, [release("A", 1)])

    with pytest.raises(Conflict, match="has records that this publication did not send"):
        table.send()


def test_a_topic_that_was_created_again_is_refused_until_its_progress_is_deleted(
    kafka: Kafka, table: PublishedTable
) -> None:
    table.publish(1, [release("A", 1)])
    table.send()
    kafka.delete_topic(table.topic.name)
    kafka.recreate_topic(table.topic.name)

    with pytest.raises(Conflict, match="was deleted and created again after run 1 was sent"):
        table.send()
    kafka.delete_topic(f"{table.topic.name}{PROGRESS_SUFFIX}")
    table.send()

    assert numbers(kafka, table.topic) == [("A", 1)]


def test_a_topic_whose_policy_would_lose_rows_is_refused(kafka: Kafka, table: PublishedTable) -> None:
    kafka.recreate_topic(table.topic.name, cleanup_policy="delete")
    table = table.with_records(Records.UPSERTS)
    table.publish(1, [release("A", 1)])

    with pytest.raises(Conflict, match=r"cleanup\.policy=delete, which would remove the rows of keys"):
        table.send()


def test_the_snapshot_that_was_sent_does_not_expire(table: PublishedTable) -> None:
    table.publish(1, [release("A", 1)])
    table.send()
    state = table.catalog().load("publications.releases_v1")

    assert state is not None
    assert state.history.tags == {f"sent_{table.topic.name}": table.stamp().snapshot}


def messages(kafka: Kafka, topic: str) -> list[Any]:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "reader", "enable.partition.eof": True})
    partitions = sorted(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    found, ended = [], 0
    while ended < len(partitions):
        message = consumer.poll(30)
        assert message is not None
        if message.error() is None:
            found.append(message)
        else:
            ended += 1
    consumer.close()
    return found


def kafka_headers(kafka: Kafka, topic: str) -> list[tuple[str, dict[str, str]]]:
    return [
        (message.key().decode(), {name: value.decode() for name, value in message.headers()})
        for message in messages(kafka, topic)
    ]


def policy(kafka: Kafka, topic: str) -> str:
    from confluent_kafka.admin import ConfigResource  # type: ignore[attr-defined]

    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    admin = kafka.admin()
    return str(admin.describe_configs([resource])[resource].result(30)["cleanup.policy"].value)
