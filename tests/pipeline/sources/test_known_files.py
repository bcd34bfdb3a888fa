"""Files that were read before are not read again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.sources.landing import NOON, files
from tests.pipeline.tables.orders import place_of
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import raw_table
from treaty.pipeline.sources import ArrivalRequest, Arrivals, files_table, known_files, read_arrivals, remember_files
from treaty.pipeline.tables import NewStamp, Tables

RAW_TABLE = raw_table("order_placed")


def test_only_new_files_are_read(any_spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    tables = Tables(any_spark, place_of(request))
    pattern = tmp_path / "*.jsonl"
    assert _run(tables, 1, pattern).notes == (f"nothing new at {pattern}",)
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 2}\n')
    assert _run(tables, 2, pattern).new == 2
    remember_files(tables, "order_placed", 2)
    assert _run(tables, 3, pattern).rows is None

    (tmp_path / "3.jsonl").write_text('{"a": 3}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 2}\n{"a": 22}\n')
    os.utime(tmp_path / "1.jsonl", (1, 1))
    found = _run(tables, 4, pattern)
    assert found.new == 1
    assert [note.partition(" ")[0].rpartition("/")[2] for note in found.notes] == ["1.jsonl", "2.jsonl"]
    assert all("changed after it was read, and is not read again" in note for note in found.notes)
    # run 4 was interrupted before it updated the list of files
    assert _run(tables, 5, pattern).rows is None
    remember_files(tables, "order_placed", 5)
    assert _run(tables, 6, pattern).rows is None

    rows = sorted(bytes(row["payload"]) for row in tables.read(RAW_TABLE).collect())
    assert rows == [b'{"a": 1}', b'{"a": 2}', b'{"a": 3}']
    listed = sorted(tables.read(files_table("order_placed")).select("rows", "_run").collect())
    assert [tuple(row) for row in listed] == [(1, 2), (1, 2), (1, 4)]


def test_files_are_read_again_after_a_rollback(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tables = Tables(spark, place_of(request))
    for run in (1, 2):
        (tmp_path / f"{run}.jsonl").write_text(f"{run}\n")
        _run(tables, run, tmp_path / "*.jsonl")
        remember_files(tables, "order_placed", run)
    first = tables.stamps(RAW_TABLE)[-1]
    spark.sql(
        f"CALL lake.system.rollback_to_snapshot('{tables.namespace.name_in_catalog(RAW_TABLE)}', {first.snapshot})"
    )

    assert _run(tables, 3, tmp_path / "*.jsonl").new == 1
    remember_files(tables, "order_placed", 3)
    assert sorted(row["payload"] for row in tables.read(RAW_TABLE).collect()) == [b"1", b"2"]
    assert sorted(row["_run"] for row in tables.read(files_table("order_placed")).collect()) == [1, 3]
    assert _run(tables, 4, tmp_path / "*.jsonl").new == 0


def _run(tables: Tables, run: int, pattern: Path) -> Arrivals:
    """Append new files to the raw table, as a run does."""
    tables.ensure(RAW_TABLE, RAW, {})
    found = read_arrivals(tables.spark, files(pattern), ArrivalRequest(run, NOON, known_files(tables, "order_placed")))
    if found.rows is not None:
        tables.append(RAW_TABLE, found.rows, NewStamp(run, {}, "", "", {}, found.extra))
    return found
