"""Certifying events of the gym contracts, against parsing the same lines on Spark and reading every field."""

from __future__ import annotations

import argparse
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.timing import medians, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from treaty.contracts import Contract

EVENTS = 1_000_000
ROUNDS, SHAPES, LIMIT = 3, 20_000, 3.0
CONTRACTS = Path(__file__).parents[1] / "examples" / "gym" / "contracts"
NAMES = ("class_published", "class_updated", "class_cancelled")


def run(events: int = EVENTS) -> str:
    """Return the table: parsing, certifying, and the ratio, which should be at most 3."""
    from treaty.contracts.loader import load
    from treaty.spark.session import spark_session
    from treaty.spark.session_options import SparkOptions, Start

    files = [CONTRACTS / f"gym.scheduling.{name}.yaml" for name in NAMES]
    contracts = [load(file.read_bytes(), str(file)).contract for file in files]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        _write(path, contracts, events)
        conf = {"spark.sql.shuffle.partitions": "4"}
        spark = spark_session(SparkOptions(memory="4g", start=Start.THROUGHPUT, conf=conf))
        try:
            taken = medians(
                {
                    "parsing": lambda: _parse(spark, path, contracts),
                    "certifying": lambda: _certify(spark, path, contracts),
                },
                ROUNDS,
            )
        finally:
            spark.stop()
    floor = taken["parsing"]
    rows = [
        [name, f"{seconds:.1f} s", f"{1e6 * seconds / events:.1f} µs", f"{seconds / floor:.2f}"]
        for name, seconds in taken.items()
    ]
    return table(["", f"{events:,} events", "per event", f"to parsing (at most {LIMIT:g})"], rows)


def _write(path: Path, contracts: list[Contract], events: int) -> None:
    """Write a generated stream, repeated with other keys until there are enough events."""
    from treaty.events.cloud_events import render_cloud_event
    from treaty.events.generator import EventGenerator, GenerationOptions

    generated = EventGenerator(contracts, GenerationOptions(count=min(SHAPES, events), seed="benchmark")).generate()
    templates = [json.loads(render_cloud_event(event)) for event in generated]
    with path.open("w", encoding="utf-8") as file:
        for number in range(events):
            event = templates[number % len(templates)]
            key = f"{event['data']['classId']}-{number // len(templates)}"
            file.write(json.dumps({**event, "data": {**event["data"], "classId": key}}) + "\n")


def _parse(spark: SparkSession, path: Path, contracts: list[Contract]) -> None:
    """Parse each line into the fields of all contracts, and read each of them."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as spark_types

    from treaty.spark.schema import lenient_type

    fields = {field.name or "": field for contract in contracts for field in contract.schema[0].fields}
    data = spark_types.StructType(
        [spark_types.StructField(name, lenient_type(field)) for name, field in fields.items()]
    )
    record = spark_types.StructType(
        [spark_types.StructField("type", spark_types.StringType()), spark_types.StructField("data", data)]
    )
    parsed: DataFrame = spark.read.text(str(path)).select(F.from_json("value", record).alias("event"))
    parsed.select(F.xxhash64("event").alias("hash")).agg(F.bit_xor("hash")).collect()


def _certify(spark: SparkSession, path: Path, contracts: list[Contract]) -> None:
    from treaty.spark.certification import certify
    from treaty.spark.event_records import Transport, read_record_files

    records = read_record_files(spark, str(path), Transport("benchmark"))
    found = certify(records, contracts, "benchmark", datetime(2030, 1, 1, tzinfo=UTC))
    if not found.passed:
        raise RuntimeError(f"the generated events break {', '.join(result.id for result in found.failures)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, help="the number of events (%(default)s)")
    print(run(parser.parse_args().events))
