"""Values of topics: decoded by the schema that their header names, or quarantined with the reason."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.pipeline.layers.arrivals import Arrival, contract, raw
from treaty.contracts.versions import Line
from treaty.pipeline.layers.decoding import decode, schema_ids
from treaty.pipeline.layers.decoding.protobuf_values import message_type
from treaty.pipeline.layers.events import check_events
from treaty.pipeline.project.declarations import Codec, Files, Format, Framing, Source, ValueFormat
from treaty.pipeline.run.writer_schemas import plain_schema, writer_schemas
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, Reference, ReferencedSchema, SchemaType
from treaty.schema_registry.schemas import parse_schema
from treaty.schema_registry.wire_header import encode_header

ORDERS = contract(
    "orders",
    {
        "id": {"required": True},
        "amount": {"logicalType": "number", "physicalType": "decimal(10,2)"},
        "placed_at": {"logicalType": "timestamp"},
        "state": {"customProperties": [], "logicalType": "string"},
        "raw": {"logicalType": None, "physicalType": "binary"},
    },
)
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
_AT = {"type": "long", "logicalType": "timestamp-millis"}
_STATE = {"type": "enum", "name": "State", "symbols": ["OPEN", "PAID"]}
FIRST: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "amount", "type": ["null", _DECIMAL], "default": None},
        {"name": "placed_at", "type": ["null", _AT], "default": None},
        {"name": "state", "type": ["null", _STATE], "default": None},
        {"name": "raw", "type": ["null", "bytes"], "default": None},
    ],
}
NULLABLE: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "raw", "type": ["null", "bytes"]}],
}
WIDER: dict[str, Any] = {**FIRST, "fields": [*FIRST["fields"], {"name": "note", "type": "string"}]}
NARROW: dict[str, Any] = {**FIRST, "fields": [{"name": "amount", "type": "boolean"}]}


def parsed(schema: Any, kind: SchemaType = SchemaType.AVRO) -> ParsedSchema:
    return parse_schema(kind, schema if isinstance(schema, str) else json.dumps(schema))


def avro(schema: Any, record: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), dict(record))
    return out.getvalue()


def topic(value: ValueFormat, framing: Framing = Framing.CONFLUENT, schema: str | None = None) -> Source:
    origin = Files("orders/*", Format.JSONL)
    return Source("orders", Line("shop.orders", 1), origin, ("id",), codec=Codec(value, framing, schema))


def events(
    spark: SparkSession,
    folder: Path,
    source: Source,
    values: Sequence[bytes | None],
    schemas: Mapping[int, ParsedSchema | InvalidSchema | None] | None = None,
) -> list[dict[str, Any]]:
    """Return, for each value, its reasons if it is quarantined, else its fields that are not null."""
    rows = raw(spark, folder, [Arrival(value or b"", position=place) for place, value in enumerate(values)])
    tombstones = [place for place, value in enumerate(values) if value is None]
    rows = rows.withColumn("payload", F.when(~F.col("position").isin(tombstones), F.col("payload")))
    writers = writer_schemas(spark, source, ORDERS, schemas or {})
    decoded = decode(rows, source, ORDERS, writers, plain_schema(spark, source, ORDERS))
    checked = check_events(decoded.rows, source, ORDERS, decoded.rules)
    found = checked.selectExpr("*", "string(placed_at) AS at", "string(amount) AS sum").orderBy("_position").collect()
    return [_described(row.asDict(True)) for row in found]


def _described(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["_outcome"] == "quarantined":
        return {reason["rule"]: (reason["message"], reason["value"]) for reason in row["_violations"]}
    fields = {"id": row["id"], "amount": row["sum"], "at": row["at"], "state": row["state"], "raw": row["raw"]}
    return {name: value for name, value in fields.items() if value is not None}


ORDER = {"id": "a", "amount": None, "placed_at": None, "state": "PAID", "raw": b"\x00\xff"}


def test_avro_values_are_read_by_the_schema_in_their_header_and_bad_ones_are_quarantined(
    spark: SparkSession, tmp_path: Path
) -> None:
    full = {**ORDER, "amount": Decimal("12.30"), "placed_at": datetime(2026, 1, 5, 10, 0, 0, 250_000, UTC)}
    good = encode_header(1) + avro(FIRST, full)
    values: list[bytes | None] = [
        good,
        encode_header(2) + avro(WIDER, {**ORDER, "id": "b", "note": "x"}),
        encode_header(3) + avro(NARROW, {"amount": True}),
        good[:-1],
        good + b"\x00",
        encode_header(99) + avro(FIRST, ORDER),
        b"\x01" + good[1:],
        b"\x00\x00",
        b"",
        None,
        encode_header(1),
        encode_header(4) + b"{}",
        encode_header(5) + b"\x00",
    ]
    schemas: dict[int, ParsedSchema | InvalidSchema | None] = {
        1: parsed(FIRST),
        2: parsed(WIDER),
        3: parsed(NARROW),
        4: parsed({"type": "object"}, SchemaType.JSON),
        5: InvalidSchema("the Avro schema is not valid: no type"),
        99: None,
    }

    found = events(spark, tmp_path, topic(ValueFormat.AVRO), values, schemas)

    invalid = "must be a complete Avro record of its schema, with nothing after it"
    incompatible = (
        "must be written with a schema that readers of the contract can read: schema 3: field 'id': "
        "the field 'id' at '/fields/0' in the contract’s schema has no default value and is missing in the writer’s "
        "schema; field 'amount': the union at '/fields/1/type' in the contract’s schema has no type for boolean, "
        "which the writer’s schema has"
    )
    assert found == [
        {"id": "a", "amount": "12.30", "at": "2026-01-05 10:00:00.25", "state": "PAID", "raw": b"\x00\xff"},
        {"id": "b", "state": "PAID", "raw": b"\x00\xff"},
        {"incompatible_schema": (incompatible, "3")},
        {"invalid_avro": (invalid, "0x" + good[:16].hex())},
        {"invalid_avro": (invalid, "0x" + good[:16].hex())},
        {"unknown_schema_id": ("must name a schema that the schema registry has", "99")},
        {"wrong_magic_byte": ("must begin with the magic byte 0x00 and the id of a schema", "0x01")},
        {
            "truncated_header": (
                "must have a complete header: a magic byte, four bytes of a schema id, and for Protobuf the indexes of "
                "the message",
                "0x0000",
            )
        },
        {"empty_value": ("must not be empty", None)},
        {"tombstone": ("must have a value; only a change feed may have tombstones", None)},
        {"invalid_avro": (invalid, "0x0000000001")},
        {
            "wrong_schema_type": (
                "must name a schema of the format that the source declares: schema 4 is JSON, and the source declares "
                "avro",
                "4",
            )
        },
        {
            "unusable_schema": (
                "must name a schema that can be used: schema 5: the Avro schema is not valid: no type",
                "5",
            )
        },
    ]


def test_avro_record_of_nulls_is_a_record(spark: SparkSession, tmp_path: Path) -> None:
    nulls = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": ["null", "string"], "default": None}]}
    optional = contract("optional", {"id": {}})
    source = topic(ValueFormat.AVRO)
    rows = raw(spark, tmp_path, [Arrival(encode_header(1) + avro(nulls, {"id": None}))])

    decoded = decode(rows, source, optional, writer_schemas(spark, source, optional, {1: parsed(nulls)}))
    events = check_events(decoded.rows, source, optional, decoded.rules).select("_outcome").collect()

    assert [event["_outcome"] for event in events] == ["accepted"]


def test_avro_type_of_a_referenced_schema_is_known(spark: SparkSession, tmp_path: Path) -> None:
    state = parsed({**_STATE, "namespace": "shop"})
    referring = {**NULLABLE, "namespace": "shop", "fields": [*NULLABLE["fields"], {"name": "state", "type": "State"}]}
    reference = ReferencedSchema(Reference("shop.State", "state", 1), state)
    schema = parse_schema(SchemaType.AVRO, json.dumps(referring), [reference])
    whole = {**referring, "fields": [*NULLABLE["fields"], {"name": "state", "type": _STATE}]}
    value = encode_header(1) + avro(whole, {"id": "a", "raw": None, "state": "OPEN"})

    assert events(spark, tmp_path, topic(ValueFormat.AVRO), [value], {1: schema}) == [{"id": "a", "state": "OPEN"}]


def test_avro_schema_that_refers_to_itself_is_unusable(spark: SparkSession) -> None:
    nested = {"name": "next", "type": ["null", "Order"], "default": None}
    schema = parsed({**NULLABLE, "fields": [*NULLABLE["fields"], nested]})

    (writer,) = writer_schemas(spark, topic(ValueFormat.AVRO), ORDERS, {1: schema}).values()

    assert (writer.failure, "recursive" in writer.why) == ("unusable_schema", True)


def test_avro_without_a_header_is_read_by_the_schema_of_a_file(spark: SparkSession, tmp_path: Path) -> None:
    source = topic(ValueFormat.AVRO, Framing.NONE, json.dumps(NULLABLE))

    found = events(spark, tmp_path, source, [avro(NULLABLE, {"id": "a", "raw": b"\x01"}), b"\x02"])

    assert found[0] == {"id": "a", "raw": b"\x01"}
    assert list(found[1]) == ["invalid_avro"]


PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Other { int32 number = 1; }
message Order {
  enum State { OPEN = 0; PAID = 1; }
  string id = 1;
  string amount = 2;
  google.protobuf.Timestamp placed_at = 3;
  State state = 4;
  bytes raw = 5;
}
"""


def test_protobuf_values_are_read_by_the_message_in_their_header(spark: SparkSession, tmp_path: Path) -> None:
    schema = parsed(PROTO, SchemaType.PROTOBUF)
    source = topic(ValueFormat.PROTOBUF)
    writer = writer_schemas(spark, source, ORDERS, {1: schema})[1]
    order = message_type(writer.descriptors, (1,))(id="a", amount="12.30", state=1, raw=b"\x00\xff")
    order.placed_at.FromJsonString("2026-01-05T10:00:00.250Z")
    good = encode_header(1, (1,)) + order.SerializeToString()
    values: list[bytes | None] = [
        good,
        good[:-1],
        encode_header(1, (7,)) + order.SerializeToString(),
        encode_header(1),
        encode_header(99, (0,)) + order.SerializeToString(),
        None,
    ]

    found = events(spark, tmp_path, source, values, {1: schema, 99: None})

    assert found[0] == {
        "id": "a",
        "amount": "12.30",
        "at": "2026-01-05 10:00:00.25",
        "state": "PAID",
        "raw": b"\x00\xff",
    }
    assert [list(reasons) for reasons in found[1:]] == [
        ["invalid_protobuf"],
        ["invalid_protobuf"],
        ["truncated_header"],
        ["unknown_schema_id"],
        ["tombstone"],
    ]


def test_json_values_lose_their_header(spark: SparkSession, tmp_path: Path) -> None:
    schema = parsed({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}, SchemaType.JSON)
    values: list[bytes | None] = [
        encode_header(1) + b'{"id": "a", "amount": 1.10}',
        encode_header(1) + b'{"id": "\xff\xfe"}',
        encode_header(1) + b'{"id": ',
        b'{"id": "a"}',
        encode_header(1),
    ]

    found = events(spark, tmp_path, topic(ValueFormat.JSON), values, {1: schema})

    assert found[0] == {"id": "a", "amount": "1.10"}
    assert [list(reasons) for reasons in found[1:]] == [
        ["invalid_utf8"],
        ["malformed"],
        ["wrong_magic_byte"],
        ["malformed"],
    ]


def test_json_values_without_a_header_have_reasons_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    values: list[bytes | None] = [b'{"id": "a"}', b'{"id": "\xff"}', b"", None, b"x" * 10_000_000]

    found = events(spark, tmp_path, topic(ValueFormat.JSON, Framing.NONE), values)

    assert found[0] == {"id": "a"}
    assert [list(reasons) for reasons in found[1:]] == [["invalid_utf8"], ["empty_value"], ["tombstone"], ["malformed"]]


def test_ids_of_a_batch_are_those_of_values_with_a_header(spark: SparkSession, tmp_path: Path) -> None:
    values = [encode_header(7) + b"x", encode_header(7), encode_header(300_000), b"{}", b"", b"\x01\x00\x00\x00\x05"]

    found = schema_ids(raw(spark, tmp_path, [Arrival(value) for value in values])).collect()

    assert sorted(row["id"] for row in found) == [7, 300_000]
