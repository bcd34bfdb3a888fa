"""Lines of files: every byte of every line, once, in order."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.sources.landing import NOON, asking, files
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import Format
from treaty.pipeline.sources import read_arrivals

POISON = {
    "mixed [1] %20.jsonl": [
        b'{"a": 1}\r',
        b"",
        b'{"a": \xff\xfe\xc3\x28}',
        b"\x00\x00",
        b'{"cut": "off',
        b"x" * 10_000_000,
        b"last, without a newline",
    ],
    "day=1/only_newline.jsonl": [b""],
    "day=1/same.jsonl": [b'{"a": 1}', b'{"a": 1}'],
}


def test_every_line_arrives_byte_for_byte(any_spark: SparkSession, tmp_path: Path) -> None:
    for name, expected in POISON.items():
        file = tmp_path / "landing" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"\n".join(expected) + (b"" if expected[-1].startswith(b"last") else b"\n"))
    (tmp_path / "landing" / "empty.jsonl").touch()
    (tmp_path / "landing" / "packed.jsonl.gz").write_bytes(gzip.compress(b'{"z": 1}\n{"z": 2}\n'))

    found = read_arrivals(any_spark, files(tmp_path / "landing"), asking())

    assert (found.new, found.notes) == (4, ())
    assert found.rows is not None
    assert [(item.name, item.dataType) for item in found.rows.schema] == [(item.name, item.dataType) for item in RAW]
    seconds = F.unix_micros("arrived_at").alias("arrived")
    rows = found.rows.select("payload", "source", "file", "file_size", "position", "headers", seconds, "_run").collect()
    by_file: dict[str, list[bytes]] = {}
    for row in sorted(rows, key=lambda row: (row["file"], row["position"])):
        by_file.setdefault(row["file"].rpartition("landing/")[2], []).append(bytes(row["payload"]))
    assert by_file == {
        "mixed%20%5B1%5D%20%2520.jsonl": POISON["mixed [1] %20.jsonl"],
        "day=1/only_newline.jsonl": [b""],
        "day=1/same.jsonl": POISON["day=1/same.jsonl"],
        "packed.jsonl.gz": [b'{"z": 1}', b'{"z": 2}'],
    }
    assert {(row["source"], row["_run"], row["arrived"]) for row in rows} == {
        ("order_placed", 5, round(NOON.timestamp() * 1_000_000))
    }
    sizes = {row["file"].rpartition("/")[2]: row["file_size"] for row in rows}
    assert (sizes["only_newline.jsonl"], sizes["same.jsonl"]) == (1, 18)
    assert all(row["headers"] == {} for row in rows)


def test_lines_of_a_file_read_in_parts_stay_in_order(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "big.csv").write_text("n;text\n" + "".join(f"{number};{'x' * 50}\n" for number in range(20_000)))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "100000")
    try:
        found = read_arrivals(spark, files(tmp_path / "*.csv", Format.CSV, {"separator": ";"}), asking())
        assert found.rows is not None
        number = F.split(F.col("payload").cast("string"), ";")[0].cast("int").alias("number")
        rows = found.rows.select("position", number, F.spark_partition_id().alias("part")).collect()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert len({row["part"] for row in rows}) > 5
    assert [row["number"] for row in sorted(rows, key=lambda row: row["position"])] == list(range(20_000))


def test_csv_lines_carry_their_header(any_spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(b"\xef\xbb\xbfid;name\r\n1;a\r\nid;name\r\n\n2;\xff\n")
    (tmp_path / "2.csv").write_bytes(b"\n\nname;id\nb;3\n")
    (tmp_path / "3.csv").write_bytes(b"id;name\n")

    found = read_arrivals(any_spark, files(tmp_path / "*.csv", Format.CSV, {"separator": ";"}), asking())
    assert _payloads(found.rows) == [
        ("1.csv", b"1;a\r", {"columns": "id;name"}),
        ("1.csv", b"id;name\r", {"columns": "id;name"}),
        ("1.csv", b"", {"columns": "id;name"}),
        ("1.csv", b"2;\xff", {"columns": "id;name"}),
        ("2.csv", b"", {"columns": "name;id"}),
        ("2.csv", b"", {"columns": "name;id"}),
        ("2.csv", b"b;3", {"columns": "name;id"}),
    ]

    bare = read_arrivals(any_spark, files(tmp_path / "2.csv", Format.CSV, {"header": "false"}), asking())
    assert [payload for _, payload, _ in _payloads(bare.rows)] == [b"", b"", b"name;id", b"b;3"]

    only_names = read_arrivals(any_spark, files(tmp_path / "3.csv", Format.CSV), asking())
    assert only_names.rows is None
    assert only_names.notes == (f"file:{tmp_path}/3.csv has no records",)


def test_multiline_csv_values_become_one_record(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text('id,name\n1,"two\nlines"\n2\n3,\n')
    (tmp_path / "2.csv").write_text("name,amount\nb,007\n")
    (tmp_path / "3.csv").write_text("name,name\nb,007\n")

    found = read_arrivals(spark, files(tmp_path / "*.csv", Format.CSV, {"multiline": "true"}), asking())

    assert found.new == 2
    assert [note for note in found.notes if "3.csv has several columns named 'name'" in note]
    rows = _payloads(found.rows)
    assert rows[1] == ("1.csv", b"2", {"encoding": "text"})
    assert [json.loads(payload) for _, payload, headers in rows if headers == {"encoding": "json"}] == [
        {"id": "1", "name": "two\nlines"},
        {"id": "3", "name": None},
        {"name": "b", "amount": "007"},
    ]


def _payloads(rows: DataFrame | None) -> list[tuple[str, bytes, dict[str, str]]]:
    assert rows is not None
    kept = sorted(rows.collect(), key=lambda row: (row["file"], row["position"]))
    return [(row["file"].rpartition("/")[2], bytes(row["payload"]), row["headers"]) for row in kept]
