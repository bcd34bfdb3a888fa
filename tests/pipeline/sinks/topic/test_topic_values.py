"""Values of records: a row in JSON, Avro and Protobuf is read back as it was, by other libraries."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from fastavro import schemaless_reader
from google.protobuf import json_format

from tests.documents import contract
from tests.pipeline.sinks.topic.publishing import release, releases
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Records, Topic, ValueFormat
from treaty.pipeline.sinks.topic.delivery import topic_schema
from treaty.pipeline.sinks.topic.records import key_bytes, record_keys, records_of
from treaty.pipeline.sinks.topic.values import message_class, registered_encoder
from treaty.schema_registry.wire_header import decode_header

ROW: Mapping[str, Any] = release("A", 3, "12.50")


def _topic(value: ValueFormat) -> Topic:
    return Topic("shop.releases.v1", "localhost:9092", value)


def test_an_avro_value_is_read_with_its_schema_after_the_header() -> None:
    subject, schema = topic_schema(releases(), _topic(ValueFormat.AVRO))
    value = registered_encoder(releases(), schema, 7)(ROW)
    header = decode_header(value)
    read = schemaless_reader(io.BytesIO(value[header.size :]), json.loads(schema.text), None)

    assert (subject, header.schema_id) == ("shop.releases.v1-value", 7)
    assert read == dict(ROW)


def test_a_protobuf_value_is_read_with_its_schema_after_the_header() -> None:
    _, schema = topic_schema(releases(), _topic(ValueFormat.PROTOBUF))
    value = registered_encoder(releases(), schema, 7)(ROW)
    header = decode_header(value, has_message_indexes=True)
    message = message_class(schema).FromString(value[header.size :])

    assert (header.schema_id, header.message_indexes) == (7, (0,))
    assert json_format.MessageToDict(message, preserving_proto_field_name=True) == {
        "order_id": "A",
        "release": "3",
        "amount": {"value": "12.50"},
        "placed_at": "2026-03-01T12:30:00Z",
        "lines": [{"sku": "s-1", "pieces": 2}],
    }


def test_fields_without_a_value_are_absent_or_null() -> None:
    row = {**ROW, "amount": None, "lines": None, "placed_at": None}
    _, avro = topic_schema(releases(), _topic(ValueFormat.AVRO))
    _, proto = topic_schema(releases(), _topic(ValueFormat.PROTOBUF))
    value = registered_encoder(releases(), proto, 1)(row)
    message = message_class(proto).FromString(value[decode_header(value, has_message_indexes=True).size :])

    avro_value = registered_encoder(releases(), avro, 1)(row)
    read: Any = schemaless_reader(io.BytesIO(avro_value[5:]), json.loads(avro.text), None)

    assert (read["amount"], read["placed_at"]) == (None, None)
    assert not message.HasField("amount")


@pytest.mark.parametrize(
    ("key", "records", "keys"),
    [
        (["order_id", "release"], Records.STREAM, ("order_id",)),
        (["order_id", "release"], Records.UPSERTS, ("order_id", "release")),
        (["order_id"], Records.UPSERTS, ("order_id",)),
    ],
)
def test_the_contract_decides_the_key_of_records(key: list[str], records: Records, keys: tuple[str, ...]) -> None:
    found = record_keys(releases(key), records)
    assert (found.message, found.group, found.sequence) == (keys, ("order_id",), "release")


@pytest.mark.parametrize(
    ("key", "records"), [(["order_id", "release"], Records.STREAM), (["order_id"], Records.UPSERTS)]
)
def test_rows_that_are_never_replaced_are_a_stream(key: list[str], records: Records) -> None:
    assert records_of(releases(key), _topic(ValueFormat.JSON)) is records


def test_a_contract_without_a_primary_key_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="has no primary key, so its records would have no key"):
        record_keys(contract([{"name": "id"}]), Records.UPSERTS)


def test_the_key_of_one_column_is_its_text_and_of_several_a_json_object() -> None:
    assert key_bytes(ROW, ("order_id",)) == b"A"
    assert key_bytes(ROW, ("release",)) == b"3"
    assert key_bytes(ROW, ("order_id", "release", "amount")) == b'{"order_id": "A", "release": 3, "amount": "12.50"}'


def test_lines_of_a_contract_have_topics_of_their_own() -> None:
    from treaty.pipeline.project.topic_reader import default_topic_name

    names = [default_topic_name(Line("shop.releases", major)) for major in (1, 2)]
    assert names == ["shop.releases.v1", "shop.releases.v2"]
