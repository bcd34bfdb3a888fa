"""`treaty test` on the Spark session of the tests."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.cli.conftest import Result, Treaty, Write
from tests.documents import CASES
from treaty.cli.commands import test as command
from treaty.spark import Duplicates, UnknownFields
from treaty.spark.rules import Kind

REPORTS: list[dict[str, Any]] = yaml.safe_load((CASES / "testing" / "reports.yaml").read_text())
FIELDS = [
    {"name": "order_id", "logicalType": "string", "primaryKey": True},
    {"name": "quantity", "logicalType": "integer", "required": True},
]
SOUND, BROKEN = "order_id,quantity\nO1,5\n", "order_id,quantity\nO1,5\nO2,many\nO3,\n"


def squeezed(text: str) -> list[str]:
    """Return the lines of a report with single spaces."""
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines()]


@pytest.fixture
def put(write: Write, spark: SparkSession, tmp_path: Path) -> Any:
    """Write the data of a case, and name what is to be tested."""

    def to_files(case: dict[str, Any]) -> str:
        if "parquet" in case:
            rows = spark.createDataFrame([(json.dumps(row),) for row in case["parquet"]["rows"]], "line string")
            typed = rows.selectExpr(f"from_json(line, '{case['parquet']['schema']}') AS row").select("row.*")
            typed.write.parquet(str(tmp_path / "orders.parquet"))
            return "orders.parquet"
        first, *_ = [write(name, text) for name, text in case["data"].items()]
        return first

    return to_files


@pytest.mark.parametrize("case", REPORTS, ids=[case["name"] for case in REPORTS])
def test_a_report_says_what_its_case_says(treaty: Treaty, write: Write, put: Any, case: dict[str, Any]) -> None:
    result = treaty("test", write("orders.yaml", case["contract"]), put(case), *case.get("arguments", ()))

    lines = squeezed(result.output)
    assert [line for line in case["lines"] if line not in lines] == [], result.output + result.errors
    assert [text for text in case.get("absent", ()) if text in result.output] == []
    assert result.code == case["code"]
    assert result.errors == ""


def on_orders(treaty: Treaty, write: Write, data: str, *arguments: str) -> Result:
    """Test orders.csv with this content."""
    return treaty("test", write("orders.yaml", FIELDS), write("orders.csv", data), *arguments)


def test_the_same_data_at_the_same_time_make_the_same_report(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    asked = ("--now", "2026-01-01T00:00:00Z", "--format", "json")

    first, second = (on_orders(treaty, write, BROKEN, *asked) for _ in range(2))

    assert first.code == 3
    assert first.output == second.output


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("junit", '<testcase classname="orders.orders" name="required:quantity" time="0">'),
        ("html", "<li>2 of 3 rows are quarantined</li>"),
        ("markdown", "| ❌ | `required:quantity` | 1 | 33.33 % | must have a value |"),
    ],
)
def test_a_report_comes_in_several_formats(
    treaty: Treaty, write: Write, spark: SparkSession, output: str, said: str
) -> None:
    assert said in on_orders(treaty, write, BROKEN, "--format", output).output


def test_a_report_goes_to_a_file_and_is_printed_for_people(
    treaty: Treaty, write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    result = on_orders(treaty, write, BROKEN, "--format", "json", "--output", "report.json")

    assert result.code == 3
    assert json.loads((tmp_path / "report.json").read_text())["quarantined"] == 2
    assert result.output.startswith("✗ orders.csv violates orders 1.0.0")
    assert result.errors == "wrote report.json\n"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".report")]


def test_bad_rows_are_written_as_they_came_with_their_reasons(
    treaty: Treaty, write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    result = on_orders(treaty, write, BROKEN, "--quarantine", "bad")

    assert result.code == 3
    assert "Quarantine 2 rows in bad" in squeezed(result.output)
    rows = spark.read.parquet(str(tmp_path / "bad")).orderBy("order_id").collect()
    assert [(row["order_id"], row["quantity"], row["_violations"][0]["rule"]) for row in rows] == [
        ("O2", "many", "type:quantity"),
        ("O3", None, "required:quantity"),
    ]
    counted = squeezed(treaty("quarantine", "list", "bad").output)
    assert counted[0] == "bad: 2 quarantined rows"
    assert "1 type:quantity must be integer many (1)" in counted
    shown = squeezed(treaty("quarantine", "show", "bad", "--rule", "type:quantity").output)
    assert shown == ["line 3 of orders.csv", "order_id O2", "✗ quantity many must be integer", ""]
    exported = treaty("quarantine", "export", "bad").output.splitlines()
    assert exported[:2] == [
        "order_id,quantity,_reasons,_source_file,_line",
        "O2,many,\"quantity is 'many', but must be integer\",orders.csv,3",
    ]
    assert json.loads(treaty("quarantine", "show", "bad", "--format", "json").output)[0]["file"] == "orders.csv"


def test_a_quarantine_is_written_for_sound_data_too(
    treaty: Treaty, write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    result = on_orders(treaty, write, SOUND, "--quarantine", "bad")

    assert result.code == 0
    assert "Quarantine 0 rows in bad" in squeezed(result.output)
    assert spark.read.parquet(str(tmp_path / "bad")).count() == 0


def test_a_contract_comes_from_a_registry(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    later = {"version": "1.1.0", "fields": [*FIELDS, {"name": "city", "logicalType": "string"}]}
    assert treaty("register", write("v1.yaml", FIELDS), write("v2.yaml", later)).code == 0
    data = write("data.csv", SOUND)

    said = {name: treaty("test", name, data, "--samples", "0") for name in ("orders@1.0.0", "orders@1", "orders")}

    assert said["orders@1.0.0"].output.startswith("✓ data.csv satisfies orders 1.0.0")
    assert said["orders@1"].output.startswith("✗ data.csv violates orders 1.1.0: 1 schema difference")
    assert said["orders"].output == said["orders@1"].output


def test_quality_rules_of_a_policy_are_enforced(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    rule = {"metric": "rowCount", "type": "library", "mustBeGreaterThan": 2}
    common = {"name": "country", "logicalType": "string", "required": True}
    policy = {"id": "policy", "tier": "domain", "schema": [{"name": "any", "properties": [common], "quality": [rule]}]}
    child = {"parent": "policy", "fields": FIELDS}
    assert treaty("register", write("policy.yaml", policy), write("orders.yaml", child)).code == 0
    data = write("data.csv", "order_id,quantity,country\nO1,5,FR\nO2,6,\n")

    alone, bound = (
        treaty("test", write("alone.yaml", {"id": "alone", "fields": FIELDS}), data),
        treaty("test", "orders", data),
    )

    assert "required:country" not in alone.output
    assert bound.code == 3
    assert "✗ required:country 1 50 % must have a value error" in squeezed(bound.output)
    assert "✗ row_count:rowCount 2 number of rows: must be more than 2 error" in squeezed(bound.output)


def test_an_iceberg_table_is_named_as_spark_names_it(treaty: Treaty, write: Write, spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.tested")
    spark.sql("SELECT 'O1' AS order_id, 5 AS quantity").writeTo("lake.tested.orders").createOrReplace()

    result = treaty("test", write("orders.yaml", FIELDS), "lake.tested.orders")

    assert result.output.startswith("✓ table lake.tested.orders satisfies orders 1.0.0: 1 row")


def test_secrets_in_database_urls_are_hidden(treaty: Treaty, write: Write, spark: SparkSession, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE orders (order_id TEXT, quantity INTEGER)")
        database.execute("INSERT INTO orders VALUES ('O1', NULL)")
        database.commit()

    result = treaty("test", write("orders.yaml", FIELDS), f"jdbc:sqlite:{tmp_path}/shop.db?password=hushhush#orders")

    assert result.code == 3
    assert f"✗ table orders of jdbc:sqlite:{tmp_path}/shop.db violates orders 1.0.0" in result.output
    assert "hushhush" not in result.output


def test_it_runs_over_spark_connect(treaty: Treaty, write: Write, connect_spark: SparkSession, tmp_path: Path) -> None:
    data = str(tmp_path / write("orders.csv", BROKEN))

    bad = str(tmp_path / "bad")
    result = treaty("test", write("orders.yaml", FIELDS), data, "--quarantine", bad, "--remote", "sc://127.0.0.1")

    assert result.code == 3, result.errors
    assert "type:quantity many 1 order_id O2" in squeezed(result.output)
    assert connect_spark.read.parquet(bad).count() == 2


CONTRACT = ("orders.yaml", "orders.csv")
MISTAKES: list[tuple[list[str], int, str]] = [
    ([], 2, "Missing argument 'CONTRACT'"),
    ([*CONTRACT, "--format", "xml"], 2, "--format"),
    ([*CONTRACT, "--max-quarantined", "many"], 2, "write a number of rows, or a share such as 0.1%"),
    ([*CONTRACT, "--max-quarantined", "0.5"], 2, "write a number of rows, or a share such as 0.1%"),
    ([*CONTRACT, "--max-quarantined", "101%"], 2, "write a number of rows, or a share such as 0.1%"),
    ([*CONTRACT, "--now", "soon"], 2, "write it like 2026-12-31T08:00Z"),
    ([*CONTRACT, "--option", "sep"], 2, "write NAME=VALUE"),
    ([*CONTRACT, "--option", "a=1", "--option", "a=2"], 2, "'a' is given twice"),
    ([*CONTRACT, "--option", "password=x"], 2, "set TREATY_JDBC_PASSWORD"),
    ([*CONTRACT, "--severity", "enum:status"], 2, "write RULE=SEVERITY with one of error, warning, info"),
    ([*CONTRACT, "--severity", "enum:status=loud"], 2, "write RULE=SEVERITY with one of error, warning, info"),
    ([*CONTRACT, "--master", "local[1]", "--remote", "sc://a"], 2, "--master and --remote exclude each other"),
    ([*CONTRACT, "--remote", "http://a"], 2, "write it like sc://host:15002"),
    ([*CONTRACT, "--overwrite"], 2, "--overwrite needs --quarantine"),
    ([*CONTRACT, "--output", "nowhere/report.txt"], 2, "there is no folder nowhere"),
    ([*CONTRACT, "--output", "."], 2, ". is a folder; give a file"),
    (["nothing.yaml", "orders.csv"], 1, "no file nothing.yaml; check the path"),
    (["orders", "orders.csv"], 1, "there is no registry at .treaty/registry.db"),
    ([*CONTRACT, "--object", "customers"], 1, "has no object 'customers'; it has: 'orders'"),
    ([*CONTRACT, "--data-format", "xls"], 1, "unknown data format 'xls'"),
    ([*CONTRACT, "--quarantine", ""], 1, "the path of the quarantine is empty"),
    ([*CONTRACT, "--quarantine", "q*"], 1, "must not contain"),
    ([*CONTRACT, "--quarantine", "orders.csv"], 1, "would be inside the data orders.csv"),
    ([*CONTRACT, "--quarantine", "orders.yaml"], 1, "orders.yaml already exists; choose another folder"),
    ([*CONTRACT, "--quarantine", "orders.yaml/bad"], 1, "is not a writable folder"),
]
MISTAKES_ON_SPARK = [
    (["orders.yaml", "nothing.csv"], "nothing.csv does not exist; check the path"),
    (["orders.yaml", "no_such_table"], "there is no table no_such_table"),
    (
        [*CONTRACT, "--severity", "enum:status=info"],
        "cannot change the severity of 'enum:status': there is no field 'status'",
    ),
    ([*CONTRACT, "--severity", "type:quantity=info"], "rule type:quantity must be an error"),
    ([*CONTRACT, "--duplicates", "keep-first", "--order", "size"], "cannot order by 'size'"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), MISTAKES)
def test_invalid_options_are_reported_before_spark_starts(
    treaty: Treaty, write: Write, arguments: list[str], code: int, said: str
) -> None:
    write("orders.yaml", FIELDS)
    write("orders.csv", SOUND)

    result = treaty("test", *arguments)

    assert result.code == code
    assert said in result.errors.replace("\n", " ")
    assert "Traceback" not in result.errors


@pytest.mark.parametrize(("arguments", "said"), MISTAKES_ON_SPARK)
def test_a_mistake_that_spark_finds_is_one_clear_error(
    treaty: Treaty, write: Write, spark: SparkSession, arguments: list[str], said: str
) -> None:
    write("orders.yaml", FIELDS)
    write("orders.csv", SOUND)

    result = treaty("test", *arguments)

    assert result.code == 1
    assert said in result.errors
    assert result.output == ""


def test_the_choices_of_the_command_are_those_of_the_library() -> None:
    assert [one.replace("-", "_") for one in command.Duplicates] == list(Duplicates)
    assert [one.value for one in command.UnknownFields] == [one.value for one in UnknownFields]


def test_every_kind_of_rule_and_every_option_is_documented(treaty: Treaty) -> None:
    page = (CASES.parents[1] / "docs" / "testing.md").read_text()
    options = set(re.findall(r"--[a-z][a-z-]+", treaty("test", "--help").output))

    assert [kind for kind in Kind if f"`{kind}`" not in page] == []
    assert sorted(one for one in options - {"--help", "--config", "--token-file"} if one not in page) == []
