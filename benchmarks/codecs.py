"""Decoding the values of a topic: from raw rows to checked events, in each format, against JSON without a header."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.timing import medians, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, ROUNDS = 50_000, 3
AVRO: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "customer", "type": "string"},
        {"name": "amount", "type": "double"},
        {"name": "items", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
PROTOBUF = """
syntax = "proto3";
message Order { string id = 1; string customer = 2; double amount = 3; int64 items = 4; string note = 5; }
"""
CONTRACT = """
id: bench.orders
version: 1.0.0
apiVersion: v3.2.0
kind: DataContract
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: string, required: true}
      - {name: customer, logicalType: string, required: true}
      - {name: amount, logicalType: number}
      - {name: items, logicalType: integer, logicalTypeOptions: {format: i64}}
      - {name: note, logicalType: string}
"""


def run() -> str:
    """Return the table of all formats."""
    from treaty.spark.session import spark_session
    from treaty.spark.session_options import SparkOptions

    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(SparkOptions(memory="4g", conf={"spark.sql.shuffle.partitions": "2"}))
        try:
            decoding = _decoding(spark, Path(folder))
            taken = medians(decoding, ROUNDS)
        finally:
            spark.stop()
    floor = taken["JSON"]
    rows = [
        [name, f"{seconds:.2f} s", f"{1e6 * seconds / ROWS:.1f} µs", f"{seconds / floor:.2f}"]
        for name, seconds in taken.items()
    ]
    return table(["value", f"{ROWS:,} values", "per value", "to JSON"], rows)


def _decoding(spark: SparkSession, folder: Path) -> dict[str, Callable[[], object]]:
    from treaty.contracts.loader import load
    from treaty.contracts.versions import Line
    from treaty.pipeline.layers.decoding import decode
    from treaty.pipeline.layers.events import check_events
    from treaty.pipeline.project.declarations import Codec, Framing, Kafka, Source, ValueFormat
    from treaty.pipeline.run.writer_schemas import writer_schemas
    from treaty.schema_registry.model import SchemaType
    from treaty.schema_registry.schemas import parse_schema

    contract = load(CONTRACT.encode(), "orders.yaml").contract
    schemas = {
        1: parse_schema(SchemaType.AVRO, json.dumps(AVRO)),
        2: parse_schema(SchemaType.PROTOBUF, PROTOBUF),
        3: parse_schema(SchemaType.JSON, '{"type": "object"}'),
    }
    kinds = {
        "JSON": (ValueFormat.JSON, Framing.NONE, 0),
        "JSON with a header": (ValueFormat.JSON, Framing.CONFLUENT, 3),
        "Avro": (ValueFormat.AVRO, Framing.CONFLUENT, 1),
        "Protobuf": (ValueFormat.PROTOBUF, Framing.CONFLUENT, 2),
    }
    found: dict[str, Callable[[], object]] = {}
    for name, (value, framing, number) in kinds.items():
        source = Source("orders", Line("bench.orders", 1), Kafka("", "orders"), ("id",), codec=Codec(value, framing))
        used = {number: schemas[number]} if number else {}
        raw = _raw(spark, folder / name.replace(" ", "_"), _written(value, number))
        writers = writer_schemas(spark, source, contract, used)

        def act(raw: DataFrame = raw, source: Source = source, writers: Any = writers) -> None:
            decoded = decode(raw, source, contract, writers)
            check_events(decoded.rows, source, contract, decoded.rules).write.format("noop").mode("overwrite").save()

        found[name] = act
    return found


def _written(value: Any, number: int) -> Callable[[Mapping[str, Any]], bytes]:
    """Return what writes a record in a format."""
    import fastavro
    from google.protobuf.json_format import ParseDict

    from treaty.pipeline.layers.decoding.protobuf_values import message_type
    from treaty.pipeline.project.declarations import ValueFormat
    from treaty.pipeline.run.writer_schemas import descriptors
    from treaty.schema_registry.model import SchemaType
    from treaty.schema_registry.schemas import parse_schema
    from treaty.schema_registry.wire_header import encode_header

    if value is ValueFormat.JSON:
        head = encode_header(number) if number else b""
        return lambda record: head + json.dumps(record).encode()
    if value is ValueFormat.PROTOBUF:
        order = message_type(descriptors(parse_schema(SchemaType.PROTOBUF, PROTOBUF)), (0,))
        return lambda record: encode_header(number, (0,)) + ParseDict(record, order()).SerializeToString()
    schema = fastavro.parse_schema(AVRO)

    def write(record: Mapping[str, Any]) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, record)
        return encode_header(number) + out.getvalue()

    return write


def _raw(spark: SparkSession, folder: Path, write: Callable[[Mapping[str, Any]], bytes]) -> DataFrame:
    """Write raw rows to a file, as a table has them, and return them."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    records = (
        {"id": f"o{n}", "customer": f"c{n % 997}", "amount": n / 4, "items": n % 9, "note": "as agreed by phone"}
        for n in range(ROWS)
    )
    payloads = [write(record) for record in records]
    folder.mkdir()
    pq.write_table(
        pa.table({"payload": pa.array(payloads, pa.binary())}), folder / "raw.parquet", row_group_size=10_000
    )
    at = "timestamp'2026-01-01 00:00:00Z'"
    pointers = ("'orders#0' AS file", f"{at} AS file_modified", "1L AS position", f"{at} AS arrived_at", "1L AS _run")
    return spark.read.parquet(str(folder)).selectExpr("payload", *pointers)
