"""The client of Confluent, unchanged: serializers, deserializers and the calls that manage subjects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, ServerConfig
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.common.schema_registry_client import ConfigCompatibilityLevel
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

VALUE = SerializationContext("orders", MessageField.VALUE)
AVRO = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"}]}'
AVRO_WITH_AMOUNT = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"},'
    '{"name":"amount","type":"double"}]}'
)
JSON = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {"id": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["id"],
        "additionalProperties": False,
    }
)


@pytest.fixture
def client(address: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": address}) as client:
        yield client


def _message_class() -> Any:
    """Return a message class with a nested message and an import, as protoc makes it."""
    file = descriptor_pb2.FileDescriptorProto(name="shop/order.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=9, label=1)
    order.field.add(name="placed", number=2, type=11, label=1, type_name=".google.protobuf.Timestamp")
    order.field.add(name="lines", number=3, type=11, label=3, type_name=".shop.Order.Line")
    order.nested_type.add(name="Line").field.add(name="quantity", number=1, type=5, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def test_avro_records_are_written_and_read(client: SchemaRegistryClient) -> None:
    data = AvroSerializer(client, AVRO)({"id": "a-1"}, VALUE)

    assert data is not None
    assert data[:5] == b"\0\0\0\0\x01"
    assert AvroDeserializer(client)(data, VALUE) == {"id": "a-1"}
    assert client.get_latest_version("orders-value").schema.schema_str == AVRO


def test_a_reader_with_a_newer_avro_schema_reads_older_records(client: SchemaRegistryClient) -> None:
    newer = AVRO.replace("]}", ',{"name":"note","type":["null","string"],"default":null}]}')
    old = AvroSerializer(client, AVRO)({"id": "a-1"}, VALUE)
    new = AvroSerializer(client, newer)({"id": "a-2", "note": "x"}, VALUE)

    read = AvroDeserializer(client, newer)

    assert [read(data, VALUE) for data in (old, new)] == [{"id": "a-1", "note": None}, {"id": "a-2", "note": "x"}]


def test_an_incompatible_avro_schema_stops_the_producer(client: SchemaRegistryClient) -> None:
    AvroSerializer(client, AVRO)({"id": "a-1"}, VALUE)

    with pytest.raises(SchemaRegistryError) as caught:
        AvroSerializer(client, AVRO_WITH_AMOUNT)({"id": "a-2", "amount": 1.0}, VALUE)

    assert (caught.value.http_status_code, caught.value.error_code) == (409, 409)
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in caught.value.error_message
    assert "'amount' at '/fields/1' in the new schema has no default value" in caught.value.error_message


def test_an_avro_producer_can_use_the_latest_schema(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    options = {"auto.register.schemas": False, "use.latest.version": True}

    data = AvroSerializer(client, None, conf=options)({"id": "a-1"}, VALUE)

    assert AvroDeserializer(client)(data, VALUE) == {"id": "a-1"}


def test_json_documents_are_written_checked_and_read(client: SchemaRegistryClient) -> None:
    write, read = JSONSerializer(JSON, client), JSONDeserializer(JSON, schema_registry_client=client)

    data = write({"id": "a-1", "amount": 2.5}, VALUE)

    assert read(data, VALUE) == {"id": "a-1", "amount": 2.5}
    with pytest.raises(Exception, match="'id' is a required property"):
        write({"amount": 2.5}, VALUE)


def test_a_property_cannot_be_removed_from_a_closed_json_schema(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(JSON, "JSON"))
    smaller = json.loads(JSON)
    del smaller["properties"]["amount"]

    with pytest.raises(SchemaRegistryError, match="PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"):
        client.register_schema("orders-value", Schema(json.dumps(smaller), "JSON"))


def test_protobuf_messages_are_written_and_read(client: SchemaRegistryClient) -> None:
    order = _message_class()
    sent = order(id="a-1", lines=[{"quantity": 2}])
    sent.placed.FromSeconds(1_700_000_000)
    write = ProtobufSerializer(order, client, {"use.deprecated.format": False, "skip.known.types": False})

    data = write(sent, VALUE)

    received = ProtobufDeserializer(order, {"use.deprecated.format": False}, client)(data, VALUE)
    assert received == sent
    registered = client.get_latest_version("orders-value").schema
    assert registered.schema_type == "PROTOBUF"
    assert [one.name for one in registered.references or ()] == ["google/protobuf/timestamp.proto"]


def test_subjects_and_versions_are_managed(client: SchemaRegistryClient) -> None:
    schema = Schema(AVRO, "AVRO")
    first = client.register_schema("orders-value", schema)

    assert client.register_schema("orders-value", schema) == first
    assert client.get_subjects() == ["orders-value"]
    assert client.get_versions("orders-value") == [1]
    assert client.get_schema(first).schema_str == AVRO
    assert client.lookup_schema("orders-value", schema).version == 1
    assert client.get_version("orders-value", 1).schema_id == first
    assert client.delete_version("orders-value", 1) == 1
    with pytest.raises(SchemaRegistryError, match="40401"):
        client.get_versions("orders-value")
    assert client.delete_subject("orders-value", permanent=True) == [1]


def test_compatibility_and_configuration_are_managed(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    candidate = Schema(AVRO_WITH_AMOUNT, "AVRO")

    assert client.get_compatibility() == "BACKWARD"
    assert client.test_compatibility("orders-value", candidate) is False
    client.set_compatibility("orders-value", "FORWARD")
    assert client.get_compatibility("orders-value") == "FORWARD"
    assert client.test_compatibility("orders-value", candidate) is True
    client.set_config("orders-value", ServerConfig(compatibility=ConfigCompatibilityLevel.FULL))
    assert client.get_config("orders-value").compatibility_level == ConfigCompatibilityLevel.FULL
    assert client.test_compatibility("orders-value", candidate) is False


def test_references_to_other_subjects_are_followed(client: SchemaRegistryClient) -> None:
    item = '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"sku","type":"string"}]}'
    client.register_schema("item", Schema(item, "AVRO"))
    text = '{"type":"record","name":"Basket","namespace":"shop","fields":[{"name":"item","type":"shop.Item"}]}'
    schema = Schema(text, "AVRO", [SchemaReference("shop.Item", "item", 1)])

    data = AvroSerializer(client, schema)({"item": {"sku": "s"}}, VALUE)

    assert AvroDeserializer(client)(data, VALUE) == {"item": {"sku": "s"}}
