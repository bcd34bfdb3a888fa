"""Files that an earlier run has seen are not read again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.pipeline.sources.landing import NOON, files
from tests.pipeline.tables.orders import place_of
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import raw_table
from treaty.pipeline.sources import ArrivalRequest, Arrivals, Ledger, read_arrivals
from treaty.pipeline.tables import ARRIVALS_LEDGER, NewStamp, Tables

RAW_TABLE = raw_table("order_placed")


def test_only_new_files_are_read(any_spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    tables = Tables(any_spark, place_of(request))
    assert _run(tables, 1, tmp_path).entries == ()
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 2}\n')
    assert _run(tables, 2, tmp_path).new == 2
    assert _run(tables, 3, tmp_path).rows is None

    (tmp_path / "3.jsonl").write_text('{"a": 3}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 2}\n{"a": 22}\n')
    os.utime(tmp_path / "1.jsonl", (1, 1))
    # run 4 is interrupted before it writes the ledger
    found = _run(tables, 4, tmp_path, is_saved=False)
    assert (found.new, found.set_apart) == (1, 2)
    assert [entry.remark for entry in found.left_out] == [
        f"{name}: it changed after it was read, and is not read again; deliver new rows in a new file"
        for name in ("1.jsonl", "2.jsonl")
    ]
    found = _run(tables, 5, tmp_path)
    assert (found.rows, len(found.left_out)) == (None, 2)
    found = _run(tables, 6, tmp_path)
    assert (found.rows, found.left_out, found.set_apart) == (None, (), 2)

    rows = sorted(bytes(row["payload"]) for row in tables.read(RAW_TABLE).collect())
    assert rows == [b'{"a": 1}', b'{"a": 2}', b'{"a": 3}']
    entries = tables.read(ARRIVALS_LEDGER).select("file", "outcome", "rows", "run").collect()
    assert sorted(map(tuple, entries)) == [
        ("1.jsonl", "read", 1, 2),
        ("1.jsonl", "set apart", 0, 5),
        ("2.jsonl", "read", 1, 2),
        ("2.jsonl", "set apart", 0, 5),
        ("3.jsonl", "read", 1, 5),
    ]


def test_files_are_read_again_after_a_rollback(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tables = Tables(spark, place_of(request))
    for run in (1, 2):
        (tmp_path / f"{run}.jsonl").write_text(f"{run}\n")
        _run(tables, run, tmp_path)
    first = tables.stamps(RAW_TABLE)[-1]
    spark.sql(
        f"CALL lake.system.rollback_to_snapshot('{tables.namespace.name_in_catalog(RAW_TABLE)}', {first.snapshot})"
    )

    assert _run(tables, 3, tmp_path).new == 1
    assert sorted(row["payload"] for row in tables.read(RAW_TABLE).collect()) == [b"1", b"2"]
    assert sorted(tuple(row) for row in tables.read(ARRIVALS_LEDGER).select("file", "run").collect()) == [
        ("1.jsonl", 3),
        ("2.jsonl", 3),
    ]
    assert _run(tables, 4, tmp_path).new == 0


def test_files_of_earlier_releases_are_known_by_their_address(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tables = Tables(spark, place_of(request))
    file = tmp_path / "a b.jsonl"
    file.write_text("1\n")
    assert _run(tables, 1, tmp_path, is_saved=False, address=file.as_uri()).new == 1
    assert _run(tables, 2, tmp_path).new == 0  # known from the raw rows
    assert _run(tables, 3, tmp_path).new == 0  # known from the ledger


def _run(tables: Tables, run: int, folder: Path, *, is_saved: bool = True, address: str | None = None) -> Arrivals:
    """Append new files to the raw table, as a run does."""
    tables.ensure(RAW_TABLE, RAW, {})
    ledger = Ledger(tables, folder)
    known = ledger.known_files("order_placed", tables.stamps(RAW_TABLE))
    found = read_arrivals(tables.spark, files(folder / "*.jsonl"), ArrivalRequest(run, NOON, known, folder=folder))
    if found.rows is not None:
        rows = found.rows if address is None else found.rows.withColumn("file", F.lit(address))
        tables.append(RAW_TABLE, rows, NewStamp(run, {}, "", "", {}, found.extra))
    if is_saved:
        ledger.add("order_placed", found.entries, tables.stamp(RAW_TABLE))
        ledger.save(run, NOON)
    return found
