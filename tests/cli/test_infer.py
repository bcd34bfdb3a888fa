"""`treaty infer` on the Spark session of the tests."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.cli.conftest import Treaty, Write
from treaty.contracts import load

ROWS = 60
CSV = "order_id,status,placed_on\n" + "".join(
    f"ORD-{row:04d},{('new', 'paid')[row % 2]},2026-01-{row % 28 + 1:02d}\n" for row in range(ROWS)
)
JSON_LINES = "".join(
    json.dumps({"order_id": f"ORD-{row:04d}", "status": ("new", "paid")[row % 2], "lines": [{"price": row + 0.25}]})
    + "\n"
    for row in range(ROWS)
)
COLUMNS = "concat('ORD-', 1000 + id) AS order_id", "if(id % 2 = 0, 'new', 'paid') AS status"


def _fields(text: str) -> dict[str, dict[str, Any]]:
    return {field["name"]: field for field in yaml.safe_load(text)["schema"][0]["properties"]}


def test_a_draft_is_printed_and_can_be_loaded(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    result = treaty("infer", write("orders.csv", CSV))

    contract = load(result.output).contract
    fields = _fields(result.output)
    assert result.code == 0, result.errors
    assert (contract.id, contract.version, contract.status) == ("orders", "0.1.0", "draft")
    assert contract.schema[0].primary_key == ("order_id",)
    assert [value["value"] for value in fields["status"]["enum"]] == ["new", "paid"]
    assert fields["placed_on"]["logicalType"] == "date"
    assert fields["order_id"]["logicalTypeOptions"] == {"pattern": "^ORD-[0-9]{4}$"}


def test_the_command_says_what_to_look_at_first(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    said = treaty("infer", write("orders.csv", CSV)).errors

    assert "drafted orders: 3 fields from 60 rows; every term is a guess" in said
    assert "key         order_id (medium: no two of 60 rows share it, counted exactly)" in said
    assert "choices     status: only the observed values are allowed; add other valid values" in said
    assert "to do       describe the purpose, the owner and the meaning of 3 fields" in said
    assert "treaty lint DRAFT" in said
    assert "treaty test DRAFT orders.csv" in said


def test_a_draft_is_written_to_a_file_and_its_data_keep_it(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    data = write("orders.jsonl", JSON_LINES)

    inferred = treaty("infer", data, "--id", "shop.orders", "--object", "sales", "--output", "draft.yaml")
    tested = treaty("test", "draft.yaml", data)
    linted = treaty("lint", "draft.yaml")

    assert (inferred.code, inferred.output) == (0, "")
    assert "wrote draft.yaml" in inferred.errors
    assert tested.code == 0, tested.output + tested.errors
    assert linted.code == 3
    assert "description-missing" in linted.output


def test_near_misses_are_printed_and_head_the_draft(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    data = write("orders.csv", CSV.replace("ORD-0007,paid,2026-01-08", "ORD-0007,paid,soon"))

    result = treaty("infer", data, "--id", "shop.orders")

    contract = load(result.output).contract
    assert (contract.id, contract.schema[0].name) == ("shop.orders", "orders")
    assert result.output.startswith("# Draft of shop.orders, inferred from all 60 rows in orders.csv.\n")
    assert (
        "#   1. placed_on: correct the data, or change the type? 98.3 % of 60 values are ISO 8601 dates;"
        in result.output
    )
    assert "Near misses: 1 row of 60 would be quarantined under this draft" in result.errors


def test_names_are_those_that_are_asked_for(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    output = treaty("infer", write("orders.jsonl", JSON_LINES), "--id", "shop.orders", "--object", "sales").output

    contract = load(output).contract
    assert (contract.id, contract.schema[0].name) == ("shop.orders", "sales")
    assert _fields(output)["lines"]["items"]["properties"][0]["physicalType"] == "decimal(9,2)"


@pytest.mark.parametrize("form", ["parquet", "avro", "orc"])
def test_files_of_any_format_are_drafted(treaty: Treaty, spark: SparkSession, tmp_path: Path, form: str) -> None:
    spark.range(ROWS).selectExpr(*COLUMNS).write.format(form).save(str(tmp_path / "orders"))

    contract = load(treaty("infer", "orders").output).contract

    assert (contract.id, contract.schema[0].primary_key) == ("orders", ("order_id",))


def test_an_iceberg_table_is_drafted(treaty: Treaty, spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.inferred")
    spark.range(ROWS).selectExpr(*COLUMNS).writeTo("lake.inferred.orders").createOrReplace()

    contract = load(treaty("infer", "lake.inferred.orders").output).contract

    assert (contract.id, contract.schema[0].primary_key) == ("orders", ("order_id",))


def test_a_table_of_a_database_is_drafted(treaty: Treaty, spark: SparkSession, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE orders (order_id INTEGER NOT NULL, status TEXT)")
        database.executemany("INSERT INTO orders VALUES (?, ?)", [(row, "new") for row in range(ROWS)])
        database.commit()

    result = treaty("infer", f"jdbc:sqlite:{tmp_path}/shop.db#orders")

    contract = load(result.output).contract
    assert (contract.id, contract.schema[0].primary_key) == ("orders", ("order_id",))
    assert "treaty test DRAFT DATA" in result.errors


def test_a_draft_is_written_as_json(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    result = treaty("infer", write("orders.csv", CSV), "--format", "json")

    assert json.loads(result.output)["id"] == "orders"


def test_the_reader_takes_options(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    file = write("orders.txt", CSV.replace(",", ";"))

    result = treaty("infer", file, "--data-format", "csv", "--option", "sep=;")

    assert list(_fields(result.output)) == ["order_id", "status", "placed_on"]


def test_text_in_another_encoding_is_drafted(treaty: Treaty, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_bytes("größe\n1\n".encode("latin-1"))

    result = treaty("infer", "sizes.csv", "--option", "encoding=ISO-8859-1")

    assert list(_fields(result.output)) == ["größe"]


def test_sample_is_reported(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    result = treaty("infer", write("orders.csv", CSV), "--sample", "55")

    assert "sample      the first 55 rows that Spark read, which is not a random sample" in result.errors
    assert "high:" not in result.output


BINARY = {
    "image.csv": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00",
    "page.csv": b"%PDF-1.7\nstream\nx\x9c\x03\x00\x01\x02\xff\nendstream\n",
    "latin.csv": "größe\n1\n".encode("latin-1"),
}
WRONG = [
    (("nowhere.csv",), 1, "nowhere.csv does not exist"),
    (("no.such.table",), 1, "there is no table no.such.table"),
    (("orders.csv", "--sample", "many"), 2, "'many' is not a sample"),
    (("orders.csv", "--option", "header"), 2, "'header' is not a pair"),
    (("orders.csv", "--data-format", "excel"), 1, "unknown data format 'excel'"),
    (("orders.csv", "--output", "no/such/file.yaml"), 2, "there is no folder no/such"),
    (("empty.csv",), 1, "empty.csv is empty"),
    (("image.csv",), 1, "image.csv is not CSV text: its header contains bytes that are no characters; check the file"),
    (("page.csv",), 1, "page.csv is not CSV text: row 3 contains bytes that are no characters; check the file"),
    (("latin.csv",), 1, "state its data format or its encoding (option encoding)"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG, ids=[" ".join(case[0]) for case in WRONG])
def test_what_cannot_be_done_is_one_clear_error(
    treaty: Treaty,
    write: Write,
    spark: SparkSession,
    tmp_path: Path,
    arguments: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    write("orders.csv", CSV)
    write("empty.csv", "")
    for name, content in BINARY.items():
        (tmp_path / name).write_bytes(content)

    result = treaty("infer", *arguments)

    assert (result.code, result.output) == (code, "")
    assert says in " ".join(result.errors.replace("│", " ").split())
    assert "Traceback" not in result.errors
