"""Lines of files: every byte of every line, once, in order, with the number of its line."""

from __future__ import annotations

import gzip
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.sources.landing import NOON, asking, files
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import Format
from treaty.pipeline.sources import Arrivals, read_arrivals

POISON = {
    "mixed [1] %20+.jsonl": [
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

    found = read_arrivals(any_spark, files(tmp_path / "landing"), asking(tmp_path))

    assert (found.new, found.left_out) == (4, ())
    assert found.rows is not None
    assert [(item.name, item.dataType) for item in found.rows.schema] == [(item.name, item.dataType) for item in RAW]
    seconds = F.unix_micros("arrived_at").alias("arrived")
    rows = found.rows.select("payload", "source", "file", "file_size", "position", "headers", seconds, "_run").collect()
    by_file: dict[str, list[bytes]] = {}
    for row in sorted(rows, key=lambda row: (row["file"], row["position"])):
        by_file.setdefault(row["file"], []).append(bytes(row["payload"]))
        assert row["position"] == len(by_file[row["file"]])
    assert by_file == {
        "landing/mixed [1] %20+.jsonl": POISON["mixed [1] %20+.jsonl"],
        "landing/day=1/only_newline.jsonl": [b""],
        "landing/day=1/same.jsonl": POISON["day=1/same.jsonl"],
        "landing/packed.jsonl.gz": [b'{"z": 1}', b'{"z": 2}'],
    }
    assert {(row["source"], row["_run"], row["arrived"]) for row in rows} == {
        ("order_placed", 5, round(NOON.timestamp() * 1_000_000))
    }
    assert {(entry.file, entry.rows) for entry in found.entries} == {(name, len(by_file[name])) for name in by_file}
    sizes = {row["file"].rpartition("/")[2]: row["file_size"] for row in rows}
    assert (sizes["only_newline.jsonl"], sizes["same.jsonl"]) == (1, 18)
    assert all(row["headers"] == {} for row in rows)


def test_lines_of_a_file_read_in_parts_have_their_numbers(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "big.csv").write_text("n;text\n" + "".join(f"{number};{'x' * 250}\n" for number in range(2, 20_002)))
    (tmp_path / "small.csv").write_text("n;text\n2;y\n")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "500000")
    try:
        found = read_arrivals(spark, files(tmp_path / "*.csv", Format.CSV, {"separator": ";"}), asking(tmp_path))
        assert found.rows is not None
        number = F.split(F.col("payload").cast("string"), ";")[0].cast("int").alias("number")
        rows = found.rows.select("file", "position", number, F.spark_partition_id().alias("part")).collect()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert len({row["part"] for row in rows}) > 5
    assert {row["file"]: row["position"] - row["number"] for row in rows} == {"big.csv": 0, "small.csv": 0}
    assert sorted(row["number"] for row in rows if row["file"] == "big.csv") == list(range(2, 20_002))


def test_csv_lines_carry_their_header(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(b"\xef\xbb\xbfid;name\r\n1;a\r\nid;name\r\n\n2;\xff\n")
    (tmp_path / "2.csv").write_bytes(b"\n\nname;id\nb;3\n")
    (tmp_path / "3.csv").write_bytes(b"id;name\n")

    found = read_arrivals(spark, files(tmp_path / "*.csv", Format.CSV, {"separator": ";"}), asking(tmp_path, "id"))
    assert _payloads(found) == [
        ("1.csv", 2, b"1;a\r", {"columns": "id;name"}),
        ("1.csv", 3, b"id;name\r", {"columns": "id;name"}),
        ("1.csv", 4, b"", {"columns": "id;name"}),
        ("1.csv", 5, b"2;\xff", {"columns": "id;name"}),
        ("2.csv", 1, b"", {"columns": "name;id"}),
        ("2.csv", 2, b"", {"columns": "name;id"}),
        ("2.csv", 4, b"b;3", {"columns": "name;id"}),
    ]
    assert {(entry.file, entry.outcome, entry.reason) for entry in found.entries} == {
        ("1.csv", "read", ""),
        ("2.csv", "read", ""),
        ("3.csv", "empty", "it has a header and no records"),
    }

    bare = read_arrivals(spark, files(tmp_path / "2.csv", Format.CSV, {"header": "false"}), asking(tmp_path))
    assert [payload for _, _, payload, _ in _payloads(bare)] == [b"", b"", b"name;id", b"b;3"]


def test_quoted_line_breaks_belong_to_one_record(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(b'id,name\n1,"two\r\nlines, ""one"" of them\n\nempty"\n2\n3,\n4,\xff"\n"\n')
    (tmp_path / "2.csv").write_text("name,amount\nb,007\n")
    (tmp_path / "3.csv").write_text('id,name\n1,"never\nclosed\n')

    multiline = files(tmp_path / "*.csv", Format.CSV, {"multiline": "true"})
    found = read_arrivals(spark, multiline, asking(tmp_path))

    assert [(entry.file, entry.reason) for entry in found.left_out] == [
        ("3.csv", "a quoted value in it is never closed")
    ]
    assert _payloads(found) == [
        ("1.csv", 2, b'1,"two\r\nlines, ""one"" of them\n\nempty"', {"columns": "id,name"}),
        ("1.csv", 6, b"2", {"columns": "id,name"}),
        ("1.csv", 7, b"3,", {"columns": "id,name"}),
        ("1.csv", 8, b'4,\xff"\n"', {"columns": "id,name"}),
        ("2.csv", 2, b"b,007", {"columns": "name,amount"}),
    ]


def _payloads(found: Arrivals) -> list[tuple[str, int, bytes, dict[str, str]]]:
    rows: DataFrame | None = found.rows
    assert rows is not None
    kept = sorted(rows.collect(), key=lambda row: (row["file"], row["position"]))
    return [(row["file"], row["position"], bytes(row["payload"]), row["headers"]) for row in kept]
