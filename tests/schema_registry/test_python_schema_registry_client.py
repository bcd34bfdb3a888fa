"""A second client, python-schema-registry-client, unchanged."""

from __future__ import annotations

import pytest
from schema_registry.client import SchemaRegistryClient, schema
from schema_registry.client.errors import ClientError
from schema_registry.serializers.message_serializer import AvroMessageSerializer, JsonMessageSerializer

ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "string"}]}
AMOUNT = {"name": "amount", "type": "double"}
ORDER_WITH_AMOUNT = {**ORDER, "fields": [{"name": "id", "type": "string"}, AMOUNT]}
DOCUMENT = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


@pytest.fixture
def client(address: str) -> SchemaRegistryClient:
    return SchemaRegistryClient(url=address)


def test_avro_records_are_written_and_read(client: SchemaRegistryClient) -> None:
    serializer = AvroMessageSerializer(client)

    data = serializer.encode_record_with_schema("orders-value", schema.AvroSchema(ORDER), {"id": "a-1"})

    assert serializer.decode_message(data) == {"id": "a-1"}


def test_json_documents_are_written_and_read(client: SchemaRegistryClient) -> None:
    serializer = JsonMessageSerializer(client)

    data = serializer.encode_record_with_schema("orders-value", schema.JsonSchema(DOCUMENT), {"id": "a-1"})

    assert serializer.decode_message(data) == {"id": "a-1"}


def test_subjects_are_managed(client: SchemaRegistryClient) -> None:
    order = schema.AvroSchema(ORDER)
    identity = client.register("orders-value", order)

    assert client.get_subjects() == ["orders-value"]
    assert client.get_versions("orders-value") == [1]
    found, latest = client.check_version("orders-value", order), client.get_schema("orders-value")
    assert found is not None
    assert latest is not None
    assert (found.version, latest.schema_id) == (1, identity)
    assert client.get_by_id(identity) == order
    assert client.get_schema("unknown") is None
    assert client.delete_version("orders-value", 1) == 1
    assert client.get_versions("orders-value") == []


def test_compatibility_is_asked_and_set(client: SchemaRegistryClient) -> None:
    client.register("orders-value", schema.AvroSchema(ORDER))
    candidate = schema.AvroSchema(ORDER_WITH_AMOUNT)

    assert client.get_compatibility() == "BACKWARD"
    assert client.test_compatibility("orders-value", candidate) is False
    with pytest.raises(ClientError) as caught:
        client.register("orders-value", candidate)
    assert caught.value.http_code == 409
    assert client.update_compatibility("FORWARD", "orders-value") is True
    assert client.test_compatibility("orders-value", candidate) is True
