"""Change feeds: envelopes become events of rows, and deletes reach products."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.pipeline.layers.arrivals import Arrival, contract, raw
from tests.pipeline.layers.test_wire_values import avro
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line
from treaty.pipeline.layers.decoding import decode
from treaty.pipeline.layers.events import check_events, mark_redeliveries
from treaty.pipeline.layers.products import build_product
from treaty.pipeline.project.declarations import (
    ChangeFeed,
    Codec,
    Files,
    Format,
    Framing,
    Product,
    Source,
    ValueFormat,
)
from treaty.pipeline.run.writer_schemas import writer_schemas
from treaty.schema_registry.model import SchemaType
from treaty.schema_registry.schemas import parse_schema
from treaty.schema_registry.wire_header import encode_header

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "codecs" / "debezium_envelopes.yaml").read_text()
)
_ID: dict[str, Any] = {"logicalType": "integer", "required": True}
_LSN: dict[str, Any] = {"logicalType": "integer", "logicalTypeOptions": {"format": "i64"}}
_ROW = {"id": _ID, "name": {"required": True}, "amount": {"logicalType": "number"}, "lsn": _LSN}
_ORDERED: dict[str, Any] = {"ordering": {"key": ["id"], "sequence": "lsn"}}
CUSTOMERS = contract("customer_rows", _ROW, **_ORDERED)
FEED = Source(
    "customer_rows",
    Line("shop.customer_rows", 1),
    Files("customers/*", Format.JSONL),
    change_feed=ChangeFeed(envelope=FrozenMap({"lsn": "source.lsn"})),
    at="customer_rows.yaml:1",
)


def _envelope(op: str, lsn: int, row: dict[str, Any]) -> dict[str, Any]:
    before, after = (row, None) if op == "d" else (None, row)
    return {"before": before, "after": after, "source": {"lsn": lsn}, "op": op, "ts_ms": 1_767_225_600_000 + lsn}


def test_envelope_becomes_an_event(spark: SparkSession, tmp_path: Path) -> None:
    arrivals = [Arrival((case["value"] or "").encode(), 1, "f.jsonl", place) for place, case in enumerate(CASES)]
    without_value = [place for place, case in enumerate(CASES) if case["value"] is None]
    rows = raw(spark, tmp_path, arrivals)
    rows = rows.withColumn("payload", F.when(~F.col("position").isin(without_value), F.col("payload")))
    decoded = decode(rows, FEED, CUSTOMERS)

    events = {row["_position"]: row for row in check_events(decoded.rows, FEED, CUSTOMERS, decoded.rules).collect()}

    names = ("id", "name", "amount", "lsn")
    found = [
        {
            "name": case["name"],
            "outcome": event["_outcome"],
            "operation": event["_operation"],
            "rules": sorted(item["rule"] for item in event["_violations"] or []),
            "row": {name: event[name] for name in names},
        }
        for case, event in ((case, events[place]) for place, case in enumerate(CASES))
    ]
    nothing = dict.fromkeys(names)
    assert found == [
        {
            "name": case["name"],
            "outcome": case["outcome"],
            "operation": case.get("operation"),
            "rules": case.get("rules", []),
            "row": case.get("row", nothing),
        }
        for case in CASES
    ]


def test_envelopes_in_avro_are_read_as_those_in_json(spark: SparkSession, tmp_path: Path) -> None:
    row = {
        "type": "record",
        "name": "Value",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "name", "type": ["null", "string"], "default": None},
            {"name": "amount", "type": ["null", "double"], "default": None},
        ],
    }
    schema = {
        "type": "record",
        "name": "Envelope",
        "namespace": "shop.customers",
        "fields": [
            {"name": "before", "type": ["null", row], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {
                "name": "source",
                "type": {"type": "record", "name": "Source", "fields": [{"name": "lsn", "type": "long"}]},
            },
            {"name": "op", "type": "string"},
        ],
    }
    values: list[dict[str, Any]] = [
        {"before": None, "after": {"id": 1, "name": "Ada", "amount": 1.5}, "source": {"lsn": 7}, "op": "c"},
        {"before": {"id": 1, "name": None, "amount": None}, "after": None, "source": {"lsn": 8}, "op": "d"},
    ]
    named = contract("named_rows", {**_ROW, "name": {}}, **_ORDERED)
    source = replace(FEED, codec=Codec(ValueFormat.AVRO, Framing.CONFLUENT))
    payloads = [encode_header(1) + avro(schema, value) for value in values]
    arrivals = [Arrival(payload, position=place) for place, payload in enumerate([*payloads, payloads[0][:-1]])]
    writers = writer_schemas(spark, source, named, {1: parse_schema(SchemaType.AVRO, json.dumps(schema))})

    decoded = decode(raw(spark, tmp_path, arrivals), source, named, writers)
    checked = check_events(decoded.rows, source, named, decoded.rules).orderBy("_position").collect()

    names = ("_outcome", "_operation", "id", "name", "amount", "lsn")
    assert [tuple(event[name] for name in names) for event in checked] == [
        ("accepted", "create", 1, "Ada", 1.5, 7),
        ("accepted", "delete", 1, None, None, 8),
        ("quarantined", None, None, None, None, None),
    ]


def test_time_of_an_envelope_becomes_a_timestamp(spark: SparkSession, tmp_path: Path) -> None:
    changed = {"id": _ID, "at": {"logicalType": "timestamp"}, "millis": _LSN}
    timed = contract("timed_rows", changed, ordering={"key": ["id"], "sequence": "at"})
    feed = ChangeFeed(envelope=FrozenMap({"at": "source.ts_us", "millis": "ts_ms"}))
    source = Source("timed_rows", Line("shop.timed_rows", 1), Files("timed/*", Format.JSONL), change_feed=feed)
    value = {"after": {"id": 1}, "op": "c", "source": {"ts_us": 1_767_225_600_123_456}, "ts_ms": 1_767_225_600_123}

    decoded = decode(raw(spark, tmp_path, [Arrival(value)]), source, timed)
    events = check_events(decoded.rows, source, timed).selectExpr("id", "string(at) AS at", "millis").collect()

    assert [tuple(event) for event in events] == [(1, "2026-01-01 00:00:00.123456", 1_767_225_600_123)]


def test_redelivered_change_is_a_duplicate_whatever_its_times(spark: SparkSession, tmp_path: Path) -> None:
    row = {"id": 1, "name": "Ada"}
    again = {**_envelope("c", 10, row), "ts_ms": 5}
    same_position = _envelope("u", 10, {"id": 1, "name": "Bo"})
    values = [_envelope("c", 10, row), again, same_position]
    arrivals = [Arrival(value, position=place) for place, value in enumerate(values)]

    decoded = decode(raw(spark, tmp_path, arrivals), FEED, CUSTOMERS)
    events = mark_redeliveries(check_events(decoded.rows, FEED, CUSTOMERS), None, ["_digest"])

    outcomes = {event["_position"]: event["_outcome"] for event in events.collect()}
    assert outcomes == {0: "accepted", 1: "duplicate", 2: "accepted"}


_CHANGES = [
    _envelope("c", 10, {"id": 1, "name": "Ada"}),
    _envelope("d", 30, {"id": 1}),
    _envelope("u", 20, {"id": 1, "name": "Late"}),
    _envelope("c", 11, {"id": 2, "name": "Bo"}),
    _envelope("d", 12, {"id": 2}),
    _envelope("c", 13, {"id": 2, "name": "Bo again"}),
    _envelope("r", 5, {"id": 3, "name": "Cy"}),
    _envelope("d", 40, {"id": 4}),
]
"""Changes in the order of arrival: one key is deleted before an older update arrives, another one comes back."""


def _product(spark: SparkSession, folder: Path, mark: str | None) -> list[tuple[Any, ...]]:
    fields: dict[str, Any] = {"id": {**_ID, "primaryKey": True}, "name": {"required": True}}
    customers = contract("customers", {**fields, "is_gone": {"logicalType": "boolean"}} if mark else fields)
    arrivals = [Arrival(value, position=place) for place, value in enumerate(_CHANGES)]
    decoded = decode(raw(spark, folder, arrivals), FEED, CUSTOMERS)
    checked = check_events(decoded.rows, FEED, CUSTOMERS).withColumn("_run", F.lit(1))
    events = spark.createDataFrame(checked.collect(), checked.schema)  # a product reads a table
    product = Product("customers", Line("shop.customers", 1), ("customer_rows",), deletion_mark=mark)
    built = build_product({"customer_rows": events}, product, customers, {"customer_rows": CUSTOMERS})
    columns = ["id", "name", *([mark] if mark else []), "_outcome", "_out_of_order", "_gaps"]
    return sorted(tuple(row[name] for name in columns) for row in built.collect())


def test_deleted_key_has_no_row_even_if_an_older_update_arrives_later(spark: SparkSession, tmp_path: Path) -> None:
    assert _product(spark, tmp_path, None) == [(2, "Bo again", "valid", 0, None), (3, "Cy", "valid", 0, None)]


def test_deleted_key_can_be_marked_and_keeps_its_last_row(spark: SparkSession, tmp_path: Path) -> None:
    assert _product(spark, tmp_path, "is_gone") == [
        (1, "Late", True, "valid", 1, None),
        (2, "Bo again", False, "valid", 0, None),
        (3, "Cy", False, "valid", 0, None),
    ]
