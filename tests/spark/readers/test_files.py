"""Files: format by name, globs, hidden files, and errors for unreadable files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.documents import contract
from tests.spark.readers.conftest import Write
from tests.spark.readers.frames import rows
from treaty.errors import InvalidDocument, NotFound
from treaty.spark.readers import MALFORMED_COLUMN, DataFormat, explain_errors, open_data, read_data


@pytest.mark.parametrize("data_format", [DataFormat.PARQUET, DataFormat.AVRO, DataFormat.ORC])
def test_typed_files_keep_their_types(any_spark: SparkSession, tmp_path: Path, data_format: DataFormat) -> None:
    folder = str(tmp_path / "orders")
    any_spark.range(2).select("id", F.lit("x").alias("name")).write.format(data_format).save(folder)

    data = open_data(any_spark, folder)

    assert sorted(rows(data.frame)) == [(0, "x"), (1, "x")]
    assert data.frame.schema.simpleString() == "struct<id:bigint,name:string>"
    assert (data.format, data.untyped) == (data_format, False)


def test_columns_of_all_files_are_read(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "orders")
    spark.range(1).write.parquet(folder)
    spark.range(1).withColumn("late", F.lit("x")).write.mode("append").parquet(folder)

    assert sorted(read_data(spark, folder).columns) == ["id", "late"]


def test_partition_values_of_typed_files_are_text_with_a_contract(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "orders")
    spark.range(1).withColumn("shop", F.lit("007")).write.partitionBy("shop").parquet(folder)
    declared = contract([{"name": "shop", "logicalType": "string"}]).schema[0]

    assert rows(read_data(spark, folder)) == [(0, 7)]
    assert rows(read_data(spark, folder, declared=declared)) == [(0, "007")]


def test_a_glob_selects_files(spark: SparkSession, write: Write) -> None:
    write("orders/1.csv", "a\n1\n")
    write("orders/2.csv", "a\n2\n")
    folder = write("orders/notes.txt", "not data").rpartition("/")[0]

    assert sorted(rows(read_data(spark, f"{folder}/*.csv"))) == [("1",), ("2",)]


@pytest.mark.parametrize("name", ["a b.csv", "a[1].csv", "a{b}.csv", "a%20b.csv", "é.csv", "a*.csv"])
def test_special_characters_in_an_existing_name_are_literal(spark: SparkSession, write: Write, name: str) -> None:
    assert rows(read_data(spark, write(name, "a\n1\n"))) == [("1",)]


def test_a_relative_path_is_resolved_against_the_working_directory(
    spark: SparkSession, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("orders.csv", "a\n1\n")
    monkeypatch.chdir(tmp_path)

    assert rows(read_data(spark, "orders.csv")) == [("1",)]


def test_hidden_files_are_ignored(spark: SparkSession, write: Write) -> None:
    write("orders/_SUCCESS", "")
    write("orders/.part.csv.crc", b"\x00")
    folder = write("orders/part.csv", "a\n1\n").rpartition("/")[0]

    assert rows(read_data(spark, folder)) == [("1",)]


def test_the_format_can_be_given(spark: SparkSession, write: Write) -> None:
    assert rows(read_data(spark, write("orders.dat", "a\n1\n"), data_format="csv")) == [("1",)]


@pytest.mark.parametrize("path", ["orders.parquet", "no/such/folder", "*.csv", "file:///no/such/orders.csv"])
def test_a_missing_path_gives_a_clear_error(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(NotFound, match="does not exist; check the path"):
        read_data(spark, path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"orders/_SUCCESS": ""}, "no data files"),
        ({"orders/a.csv": "a\n", "orders/b.jsonl": "{}"}, r"several formats: \.csv \(1\), \.jsonl \(1\); choose one"),
        ({"orders/a.csv": "a\n", "orders/README": "hi"}, r"several formats: .*readme"),
        ({"orders/a.dat": "a\n"}, r"of an unknown format: \.dat \(1\); choose one with --data-format \(parquet, csv"),
        ({"orders/_delta_log/0.json": "{}"}, "a Delta table"),
        ({"orders/metadata/1.metadata.json": "{}", "orders/data/a.parquet": "x"}, "an Iceberg table; read it"),
        ({"orders/a.parquet": ""}, "is empty: a parquet file contains at least a schema"),
        ({"orders/a.parquet": "id,name\n1,x\n"}, "not a Parquet file"),
        ({"orders/a.avro": "id,name\n1,x\n"}, "cannot read .*: Not an Avro data file"),
        ({"orders/a.csv": b"PAR1\x00\x00"}, "read as csv, but it is parquet by its content"),
        ({"orders/a.csv": b"\x1f\x8b\x08\x00"}, r"compressed with gzip; its name must end in \.gz"),
    ],
)
def test_unreadable_files_give_a_clear_error(
    spark: SparkSession, write: Write, tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    for name, content in files.items():
        write(name, content)

    with pytest.raises((InvalidDocument, NotFound), match=f"(?i){message}"):
        read_data(spark, str(tmp_path / "orders"))


def test_a_hidden_file_given_by_name_is_refused(spark: SparkSession, write: Write) -> None:
    with pytest.raises(InvalidDocument, match="rename it"):
        read_data(spark, write("_orders.csv", "a\n"))


def test_a_damaged_file_gives_a_clear_error_when_it_is_read(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    spark.range(1000).write.parquet(str(folder))
    file = next(folder.glob("part*"))
    content = file.read_bytes()
    file.write_bytes(content[:4] + b"\xff" * 60 + content[64:])
    frame = read_data(spark, str(folder))

    with pytest.raises(InvalidDocument, match="cannot read orders: "), explain_errors("orders"):
        frame.collect()


def test_readers_and_enforcement_share_the_malformed_column() -> None:
    from treaty.spark.columns import MALFORMED_COLUMN as KNOWN

    assert MALFORMED_COLUMN == KNOWN
