"""Feed deliveries: complete or absent, never duplicated, readable by the documented format."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.documents import contract
from tests.pipeline.sinks.partner import faults
from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.pipeline.project.declarations import Feed, FileLayout, Format
from treaty.pipeline.sinks import Consignment, Content, FeedFolder, deliver_feed

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
HELD_TO = contract(
    [
        {"name": "id", "logicalType": "integer", "physicalType": "int", "primaryKey": True},
        {"name": "text", "logicalType": "string"},
        {"name": "at", "logicalType": "timestamp"},
        {"name": "day", "logicalType": "date"},
        {"name": "rate", "logicalType": "number", "physicalType": "decimal(38,18)"},
        {"name": "amount", "logicalType": "number", "physicalType": "decimal(12,2)"},
        {"name": "bytes", "physicalType": "binary"},
        {"name": "lines", "logicalType": "array", "items": {"logicalType": "integer", "physicalType": "int"}},
        {"name": "open", "logicalType": "boolean"},
    ]
)
TEXTS = [
    "plain",
    "",
    None,
    ' "quoted", ',
    "two\nlines",
    "two\r\nlines",
    "a\rb",
    "=1+1",
    "#",
    "\\",
    '\\"',
    "ü😀",
    "null",
    '""',
]
ROW = """
SELECT CAST(place AS int) AS id, text, timestamp_micros(1769903999000001) AS at, date'2026-02-28' AS day,
  CAST(0.0000001 AS decimal(38,18)) AS rate, CAST(-1234.50 AS decimal(12,2)) AS amount, X'00FF' AS bytes,
  array(1, null) AS lines, place = 0 AS open
FROM (SELECT posexplode(from_json(:texts, 'array<string>')) AS (place, text))"""
NULLS = "SELECT CAST(99 AS int) AS id, " + ", ".join(
    f"CAST(null AS {kind}) AS {name}"
    for name, kind in {
        "text": "string",
        "at": "timestamp",
        "day": "date",
        "rate": "decimal(38,18)",
        "amount": "decimal(12,2)",
        "bytes": "binary",
        "lines": "array<int>",
        "open": "boolean",
    }.items()
)


def rows(spark: SparkSession) -> DataFrame:
    return spark.sql(ROW, args={"texts": json.dumps(TEXTS)}).unionByName(spark.sql(NULLS))


def consigned(run: int = 1, **more: Any) -> Consignment:
    return Consignment("partner_v1", HELD_TO, run, NOW, **more)


def feed(folder: Path, kind: Format = Format.JSONL, files: int = 1) -> Feed:
    return Feed(str(folder), kind, files)


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_csv_distinguishes_null_from_empty_and_preserves_all_characters(
    any_spark: SparkSession, tmp_path: Path
) -> None:
    any_spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        done = deliver_feed(rows(any_spark), feed(tmp_path, Format.CSV), consigned(stamp={"treaty.run": "1"}))
    finally:
        any_spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert done.is_new
    assert names(tmp_path / "partner_v1") == ["latest.json", "run=1"]
    assert names(done.folder) == ["manifest.json", "partner_v1-00001.csv"]
    content = (done.folder / "partner_v1-00001.csv").read_bytes()
    manifest = json.loads((done.folder / "manifest.json").read_bytes())
    assert manifest["files"] == [
        {
            "name": "partner_v1-00001.csv",
            "rows": len(TEXTS) + 1,
            "bytes": len(content),
            "sha256": sha256(content).hexdigest(),
        }
    ]
    assert (manifest["rows"], manifest["contract"]) == (len(TEXTS) + 1, {"id": "orders", "version": "1.0.0"})
    assert (manifest["created_at"], manifest["previous"]) == ("2026-03-02T12:00:00.000000Z", None)
    assert manifest["schema"][0] == {"name": "id", "type": "int", "required": True}
    assert manifest["dialect"]["empty_text"] == '""'
    text = content.decode()
    read = list(csv.reader(text.splitlines(keepends=True), strict=True))
    assert read[0] == [field.name for field in HELD_TO.schema[0].fields]
    assert [row[1] for row in read[1:-1]] == [value or "" for value in TEXTS]
    assert read[1][2:] == [
        "2026-01-31T23:59:59.000001Z",
        "2026-02-28",
        "0.000000100000000000",
        "-1234.50",
        "AP8=",
        "[1,null]",
        "true",
    ]
    assert text.endswith("\n99,,,,,,,,\n")
    lines = text.split("\n")
    assert lines[2].startswith('1,"",2026')  # an empty text
    assert lines[3].startswith("2,,2026")  # no text
    assert list(faults(done.folder)) == []


def test_json_lines_contain_all_fields(any_spark: SparkSession, tmp_path: Path) -> None:
    done = deliver_feed(rows(any_spark), feed(tmp_path), consigned())
    lines = (done.folder / "partner_v1-00001.jsonl").read_bytes().decode().removesuffix("\n").split("\n")
    read = [json.loads(line) for line in lines]
    assert [one["text"] for one in read] == [*TEXTS, None]
    assert read[0] == {
        "id": 0,
        "text": "plain",
        "at": "2026-01-31T23:59:59.000001Z",
        "day": "2026-02-28",
        "rate": 1e-7,
        "amount": -1234.5,
        "bytes": "AP8=",
        "lines": [1, None],
        "open": True,
    }
    assert set(read[-1]) == set(read[0])


def test_parquet_is_split_into_files_with_row_counts(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(1000).selectExpr("CAST(id AS int) AS id", "map('k', id) AS pairs")
    held_to = contract([{"name": "id", "logicalType": "integer", "primaryKey": True}, {"name": "pairs"}])
    done = deliver_feed(frame, feed(tmp_path, Format.PARQUET, 3), replace(consigned(), contract=held_to))
    assert names(done.folder)[1:] == [f"partner_v1-0000{number}.parquet" for number in (1, 2, 3)]
    assert (done.manifest.rows, len(done.manifest.files)) == (1000, 3)
    for file in done.manifest.files:
        assert spark.read.parquet(str(done.folder / file.name)).count() == file.rows > 200


def test_same_rows_give_the_same_files(spark: SparkSession, tmp_path: Path) -> None:
    one = deliver_feed(rows(spark), feed(tmp_path / "one", Format.CSV, 2), consigned())
    again = rows(spark).orderBy("text").repartition(5)
    other = deliver_feed(again, feed(tmp_path / "other", Format.CSV, 2), consigned())
    assert one.manifest == other.manifest


def test_delivery_may_be_empty(spark: SparkSession, tmp_path: Path) -> None:
    done = deliver_feed(rows(spark).where("false"), feed(tmp_path, Format.CSV), consigned())
    assert done.manifest.rows == 0
    assert (done.folder / "partner_v1-00001.csv").read_text() == ",".join(
        f.name or "" for f in HELD_TO.schema[0].fields
    ) + "\n"


def test_run_is_delivered_once_and_refers_to_the_previous_delivery(spark: SparkSession, tmp_path: Path) -> None:
    frame, to = spark.sql("SELECT 1 AS id"), feed(tmp_path)
    first = deliver_feed(frame, to, consigned(1))
    before = (first.folder / "manifest.json").read_bytes()
    second = deliver_feed(frame, to, consigned(2, content=Content.CHANGES))
    assert second.manifest.previous
    assert second.manifest.previous.run == 1
    assert second.manifest.previous.manifest_sha256 == sha256(before).hexdigest()
    latest = json.loads((tmp_path / "partner_v1" / "latest.json").read_bytes())
    assert (latest["run"], latest["manifest"]) == (2, "run=2/manifest.json")
    assert latest["manifest_sha256"] == sha256((second.folder / "manifest.json").read_bytes()).hexdigest()
    again = deliver_feed(frame.where("false"), to, replace(consigned(1), created_at=datetime.now(UTC)))
    assert not again.is_new
    assert (first.folder / "manifest.json").read_bytes() == before
    assert json.loads((tmp_path / "partner_v1" / "latest.json").read_bytes()) == latest


def test_interrupted_delivery_is_completed_without_duplicates(spark: SparkSession, tmp_path: Path) -> None:
    frame, to = spark.sql("SELECT 1 AS id"), feed(tmp_path)
    complete = deliver_feed(frame, to, consigned(1))
    folder = FeedFolder.of(to, "partner_v1")
    latest = folder.path / "latest.json"

    def interrupted_while_writing() -> None:
        shutil.move(complete.folder, folder.staging_folder(1))

    def interrupted_before_latest() -> None:
        latest.unlink()

    def without_manifest() -> None:
        (complete.folder / "manifest.json").unlink()

    def with_half_a_manifest() -> None:
        (complete.folder / "manifest.json").write_bytes(b'{"manifest": 1, "table"')

    def with_half_a_file() -> None:
        (complete.folder / "partner_v1-00001.jsonl").write_bytes(b'{"id"')

    def without_a_file() -> None:
        (complete.folder / "partner_v1-00001.jsonl").unlink()

    for damage in (interrupted_while_writing, without_manifest, with_half_a_manifest, with_half_a_file, without_a_file):
        damage()
        assert folder.latest() is None
        assert deliver_feed(frame, to, consigned(1)).is_new
        assert names(folder.path) == ["latest.json", "run=1"]
        assert folder.latest() == complete.manifest
        assert list(faults(complete.folder)) == []
    interrupted_before_latest()
    assert not deliver_feed(frame, to, consigned(1)).is_new
    assert json.loads(latest.read_bytes())["run"] == 1


def test_manipulated_delivery_is_detected(spark: SparkSession, tmp_path: Path) -> None:
    done = deliver_feed(spark.sql("SELECT 1 AS id"), feed(tmp_path), consigned())
    file = done.folder / "partner_v1-00001.jsonl"
    file.write_bytes(file.read_bytes().replace(b"1", b"2"))
    assert list(faults(done.folder)) == [f"{file.name} has another content"]


@pytest.mark.parametrize(
    ("to", "held_to", "says"),
    [
        (Feed("s3a://bucket/feeds", Format.CSV), HELD_TO, "that this machine and Spark share"),
        (Feed("/tmp/fe*ds", Format.CSV), HELD_TO, "must not contain any of"),  # noqa: S108
        (Feed("{tmp}", Format.AVRO), HELD_TO, "a feed cannot have the format avro; use one of: csv, jsonl, parquet"),
        (Feed("{tmp}", Format.CSV), contract([{"name": "id"}]), "which is an empty line"),
    ],
)
def test_impossible_feed_is_refused(spark: SparkSession, tmp_path: Path, to: Feed, held_to: Any, says: str) -> None:
    to = replace(to, folder=to.folder.replace("{tmp}", str(tmp_path)))
    with pytest.raises(InvalidDocument, match=says):
        deliver_feed(spark.sql("SELECT 1 AS id"), to, replace(consigned(), contract=held_to))
    assert FeedFolder(tmp_path / "partner_v1").runs() == []


LEGACY_TYPES = contract(
    [{"name": "no", "logicalType": "string", "primaryKey": True}, {"name": "booked_on", "logicalType": "string"}]
)


def legacy_feed(folder: Path, kind: Format = Format.CSV, **dialect: str) -> Feed:
    return Feed(str(folder), kind, layout=FileLayout("revenue_*.csv", "booked_on", "dd.MM.yyyy", dialect))


def test_an_emulated_feed_has_the_files_of_the_legacy_feed(spark: SparkSession, tmp_path: Path) -> None:
    days = [("B", "01.03.2026"), ("Ä", "02.03.2026"), ("A", "01.03.2026"), ("C", None)]
    frame = spark.createDataFrame(days, "no string, booked_on string")
    to = legacy_feed(tmp_path, sep=";", encoding="ISO-8859-1")

    done = deliver_feed(frame, to, replace(consigned(), contract=LEGACY_TYPES))

    files = {path.name: path.read_bytes() for path in done.folder.glob("*.csv")}
    assert files == {
        "revenue_2026-03-01.csv": b"no;booked_on\nA;01.03.2026\nB;01.03.2026\n",
        "revenue_2026-03-02.csv": b"no;booked_on\n\xc4;02.03.2026\n",
        "revenue_none.csv": b"no;booked_on\nC;\n",
    }
    manifest = json.loads((done.folder / "manifest.json").read_bytes())
    assert (manifest["dialect"]["separator"], manifest["dialect"]["encoding"]) == (";", "ISO-8859-1")
    assert {file["name"]: file["rows"] for file in manifest["files"]} == {
        "revenue_2026-03-01.csv": 2,
        "revenue_2026-03-02.csv": 1,
        "revenue_none.csv": 1,
    }


def test_an_emulated_feed_without_days_in_its_name_is_one_file(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("A", "01.03.2026")], "no string, booked_on string")
    to = replace(legacy_feed(tmp_path), layout=FileLayout("revenue.csv", "booked_on", dialect={"header": "false"}))

    done = deliver_feed(frame, to, replace(consigned(), contract=LEGACY_TYPES))

    assert (done.folder / "revenue.csv").read_bytes() == b"A,01.03.2026\n"
    assert names(done.folder) == ["manifest.json", "revenue.csv"]


def test_a_value_that_the_encoding_of_the_legacy_feed_lacks_is_not_delivered(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.createDataFrame([("😀", "01.03.2026")], "no string, booked_on string")

    with pytest.raises(Conflict, match="nothing was delivered"):
        deliver_feed(frame, legacy_feed(tmp_path, encoding="ISO-8859-1"), replace(consigned(), contract=LEGACY_TYPES))
    assert names(tmp_path / "partner_v1") == []


def test_lines_of_an_emulated_feed_have_no_other_fields(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("A", "01.03.2026")], "no string, booked_on string")
    to = Feed(str(tmp_path), Format.JSONL, layout=FileLayout("revenue_*.jsonl", "booked_on", "dd.MM.yyyy"))

    done = deliver_feed(frame, to, replace(consigned(), contract=LEGACY_TYPES))

    assert (done.folder / "revenue_2026-03-01.jsonl").read_text() == '{"no":"A","booked_on":"01.03.2026"}\n'


def test_feed_folder_that_is_a_file_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "partner_v1").write_text("in the way")
    with pytest.raises(Unavailable, match="partner_v1"):
        deliver_feed(spark.sql("SELECT 1 AS id"), feed(tmp_path), consigned())
