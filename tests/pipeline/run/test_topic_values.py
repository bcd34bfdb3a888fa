"""Values of topics end to end: Confluent's serializers, Treaty's schema registry, a broker, and a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from pyspark.sql import SparkSession

from tests.kafka import Kafka, Record
from tests.pipeline.layers.arrivals import contract
from tests.pipeline.projects import laid_out
from tests.server.running import running
from treaty.cli.schema_resolution import schema_resolver
from treaty.contracts.versions import Line
from treaty.kafka.broker import HOST, free_port
from treaty.pipeline.project import read_project
from treaty.pipeline.run import Outcome, RunEnvironment, RunOptions, RunSummary, run_project
from treaty.pipeline.tables import Tables
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.settings import load_settings

_AMOUNT = {"logicalType": "number"}
_FIELDS: dict[str, dict[str, Any]] = {"id": {"required": True}, "amount": _AMOUNT}
_NAMES = ("avro_orders", "json_orders", "protobuf_orders")
_CONTRACTS = {
    Line(one.id, 1): one
    for one in (
        *[contract(name, {"id": {"required": True, "primaryKey": True}, "amount": _AMOUNT}) for name in _NAMES],
        contract("orders", {"id": {"required": True, "primaryKey": True}, "amount": _AMOUNT}),
    )
}
_ID, _AMOUNT_FIELD = {"name": "id", "type": "string"}, {"name": "amount", "type": ["null", "double"], "default": None}
AVRO = {"type": "record", "name": "Order", "namespace": "shop", "fields": [_ID, _AMOUNT_FIELD]}
AVRO_WITH_NOTE = {**AVRO, "fields": [_ID, _AMOUNT_FIELD, {"name": "note", "type": "string", "default": ""}]}
AVRO_WITHOUT_ID = {**AVRO, "fields": [_AMOUNT_FIELD]}
JSON = {
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["id"],
}


def _order_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=9, label=1)
    order.field.add(name="amount", number=2, type=1, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty schema registry of Treaty."""
    with Registry.open(str(tmp_path / "registry.db")) as registry, running(create_app(registry)) as server:
        yield f"{server}/schema-registry"


def _project(folder: Path, bootstrap: str, topics: dict[str, str], address: str) -> Path:
    sources = {
        f"sources/{name}.yaml": f"contract: shop.{name}@1\ntopic: {topics[name]}\nbootstrap: {bootstrap}\n"
        f"value: {name.partition('_')[0]}\nframing: confluent\nschema_registry: {{url: {address}}}\n"
        for name in _NAMES
    }
    union = "\nUNION ALL ".join(f"SELECT id, amount FROM {name}" for name in _NAMES)  # noqa: S608
    product = f"contract: shop.orders@1\nfrom: [{', '.join(_NAMES)}]\nsql: orders.sql\n"
    return laid_out(
        folder, {"treaty.yaml": "name: topics\n", **sources, "products/orders.yaml": product, "orders.sql": union}
    )


def _run(tables: Tables, folder: Path) -> RunSummary:
    project = read_project(folder)
    environment = RunEnvironment(schema_resolver=schema_resolver(project, load_settings(None, start=folder)))
    return run_project(tables, project, _CONTRACTS, RunOptions(max_parallel_steps=1), environment)


def _orders(tables: Tables) -> list[tuple[str, float]]:
    rows = tables.current_rows("products.orders").select("id", "amount").collect()
    return sorted((row["id"], row["amount"]) for row in rows)


def _reasons(tables: Tables, name: str) -> list[tuple[int, list[str]]]:
    rows = tables.read(f"events.{name}").where("_outcome = 'quarantined'").select("_position", "_violations").collect()
    return sorted((row["_position"], [reason["rule"] for reason in row["_violations"]]) for row in rows)


def test_values_of_serializers_become_rows_and_poison_is_quarantined(
    spark: SparkSession, tmp_path: Path, kafka: Kafka, address: str
) -> None:
    topics = {name: kafka.create_topic(name, max_message_bytes="16000000") for name in _NAMES}
    client = SchemaRegistryClient({"url": address})
    written = {name: SerializationContext(topic, MessageField.VALUE) for name, topic in topics.items()}
    avro = AvroSerializer(client, json.dumps(AVRO))
    newer = AvroSerializer(client, json.dumps(AVRO_WITH_NOTE))
    good = avro({"id": "a1", "amount": 1.5}, written["avro_orders"])
    assert good is not None
    other = client.register_schema("others-value", Schema(json.dumps(AVRO_WITHOUT_ID), "AVRO"))
    incompatible = b"\x00" + other.to_bytes(4, "big") + b"\x00"
    unknown = b"\x00\x00\x00\x03\xe7" + good[5:]
    poison = [good[:-1], b"\x01" + good[1:], unknown, b"", Record(None, b"a1"), incompatible]
    new = newer({"id": "a2", "amount": 2.5, "note": "x"}, written["avro_orders"])
    assert new is not None
    kafka.produce(topics["avro_orders"], [good, *poison, new])
    document = JSONSerializer(json.dumps(JSON), client)({"id": "j1", "amount": 3.5}, written["json_orders"])
    assert document is not None
    kafka.produce(topics["json_orders"], [document[:5] + b'{"id": "\xff"}', document, document[:5] + b"x" * 10_000_000])
    order = _order_class()
    serializer = ProtobufSerializer(order, client, {"use.deprecated.format": False})
    message = serializer(order(id="p1", amount=4.5), written["protobuf_orders"])
    assert message is not None
    kafka.produce(topics["protobuf_orders"], [message[:-1], message])
    folder = _project(tmp_path / "project", kafka.bootstrap, topics, address)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.topic_values")
    tables = Tables(spark, "lake.topic_values")

    first = _run(tables, folder)

    assert first.succeeded, [step.reasons for step in first.steps]
    assert _orders(tables) == [("a1", 1.5), ("a2", 2.5), ("j1", 3.5), ("p1", 4.5)]
    assert _reasons(tables, "avro_orders") == [
        (1, ["invalid_avro"]),
        (2, ["wrong_magic_byte"]),
        (3, ["unknown_schema_id"]),
        (4, ["empty_value"]),
        (5, ["tombstone"]),
        (6, ["incompatible_schema"]),
    ]
    assert _reasons(tables, "json_orders") == [(0, ["invalid_utf8"]), (2, ["malformed"])]
    assert _reasons(tables, "protobuf_orders") == [(0, ["invalid_protobuf"])]

    kafka.produce(topics["avro_orders"], [avro({"id": "a3", "amount": 5.5}, written["avro_orders"]) or b""])
    closed = f"http://{HOST}:{free_port()}"
    _project(folder, kafka.bootstrap, topics, closed)
    down = {step.table: step for step in _run(tables, folder).steps}["events.avro_orders"]

    assert down.outcome is Outcome.FAILED
    assert down.reasons == (
        f"{folder}/sources/avro_orders.yaml:1: the schema registry at {closed} cannot be reached: ConnectError; check "
        "schema_registry.url of the source; nothing of this batch was published",
    )
    assert _orders(tables) == [("a1", 1.5), ("a2", 2.5), ("j1", 3.5), ("p1", 4.5)]

    _project(folder, kafka.bootstrap, topics, address)
    assert _run(tables, folder).succeeded
    assert _orders(tables) == [("a1", 1.5), ("a2", 2.5), ("a3", 5.5), ("j1", 3.5), ("p1", 4.5)]
