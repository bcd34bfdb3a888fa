"""`treaty read`: the rows of a snapshot, and which snapshot it is."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from tests.cli.conftest import Treaty, Write
from tests.documents import document
from treaty.errors import NotAllowed, NotFound
from treaty.pipeline.tables import NewStamp, Stamp, Tables
from treaty.pipeline.tables.ddl import create_view
from treaty.pipeline.tables.view_states import record_view_state
from treaty.spark import read

PUBLISHED = {
    "products.read_capture": [
        (10, "shop.orders 1.0.0", "SELECT 'a' AS id, 1.10BD AS amount, 'valid' AS _outcome, 10L AS _run"),
        (
            20,
            "shop.orders 1.1.0",
            "SELECT 'b' AS id, CAST(NULL AS DECIMAL(3,2)) AS amount, 'valid' AS _outcome, 20L AS _run",
        ),
        (30, "shop.orders 1.1.0", "SELECT 'bad' AS id, 0.00BD AS amount, 'quarantined' AS _outcome, 30L AS _run"),
    ],
    "publications.read_people_v1": [
        (
            15,
            "shop.people 1.0.0",
            "SELECT * FROM VALUES ('ann@example.org', 'Berlin', 'DE'), ('bob@example.org', 'Boston', 'US') "
            "AS t(email, city, country)",
        )
    ],
    "publications.read_sales_v1": [(11, "shop.sales 1.0.0", "SELECT 'one' AS line")],
    "publications.read_sales_v2": [
        (
            12,
            "shop.sales 2.0.0",
            "SELECT 'two\n' AS line, array(1) AS list, X'FF' AS bytes, TIMESTAMP '2024-01-02 03:04:05.5' AS at",
        )
    ],
}


@pytest.fixture(scope="module")
def lake(spark: SparkSession) -> dict[str, list[Stamp]]:
    """Publish a product in three runs, and two lines of a publication."""
    tables = Tables(spark, "lake")
    stamps: dict[str, list[Stamp]] = {}
    for table, runs in PUBLISHED.items():
        tables.ensure(table, _without_terms(spark.sql(runs[0][2]).schema), {})
        for run, contract, select in runs:
            stamp = NewStamp(run, {}, contract, "", {})
            stamps.setdefault(table, []).append(tables.append(table, spark.sql(select), stamp))
    for run in (13, 14):
        view, at = NewStamp(run, {}, "shop.view 1.0.0", "", {}), datetime(2026, 1, run - 12, tzinfo=UTC)
        create_view(spark, tables.namespace, "publications.read_view_v1", f"SELECT {run} AS one", view, at)
        record_view_state(tables.catalog, "publications.read_view_v1", f"SELECT {run} AS one", view, at)
    return stamps


@pytest.fixture
def reading(
    treaty: Treaty, spark: SparkSession, lake: dict[str, list[Stamp]], monkeypatch: pytest.MonkeyPatch
) -> Treaty:
    """Run the command where these tables are set to be."""
    for name in ("uri", "warehouse"):
        monkeypatch.setenv(
            f"TREATY_SPARK_ICEBERG_{name.upper()}", spark.conf.get(f"spark.sql.catalog.lake.{name}", "") or ""
        )
    monkeypatch.setenv("TREATY_SPARK_ICEBERG_NAME", "lake")
    return treaty


def test_rows_say_which_run_contract_and_snapshot_they_are_of(reading: Treaty, lake: dict[str, list[Stamp]]) -> None:
    newest = lake["products.read_capture"][-1]
    answer = reading("read", "read_capture")
    assert answer.code == 0
    said, header, *rows = answer.output.splitlines()
    assert said.startswith("products.read_capture as of run 30 (")
    assert said.endswith(f" UTC), contract shop.orders 1.1.0, snapshot {newest.snapshot}")
    assert header.split() == ["id", "amount"]
    assert sorted(row.split() for row in rows) == [["a", "1.10"], ["b", "null"]]


def test_an_earlier_run_is_read_as_it_was(reading: Treaty, lake: dict[str, list[Stamp]]) -> None:
    first, second, _ = lake["products.read_capture"]
    by_run = json.loads(reading("read", "read_capture@1", "--as-of", "10", "-f", "json").output, parse_float=Decimal)
    assert by_run == {
        "table": "products.read_capture",
        "run": 10,
        "contract": "shop.orders 1.0.0",
        "snapshot": first.snapshot,
        "published_at": first.committed_at.isoformat(),
        "columns": ["id", "amount"],
        "complete": True,
        "rows": [{"id": "a", "amount": Decimal("1.10")}],
    }
    by_time = reading("read", "read_capture", "--as-of", second.committed_at.isoformat(), "-f", "json", "--limit", "1")
    assert (json.loads(by_time.output)["run"], json.loads(by_time.output)["complete"]) == (20, False)


def test_columns_and_outcomes_can_be_chosen(reading: Treaty) -> None:
    answer = reading("read", "read_capture", "--outcome", "quarantined", "--columns", "id,_run", "--format", "csv")
    assert answer.output == "id,_run\nbad,30\n"
    assert answer.errors.startswith("products.read_capture as of run 30")


def test_a_publication_is_read_by_its_line(reading: Treaty) -> None:
    newest = reading("read", "shop.publications.read_sales", "-f", "csv")
    assert list(csv.reader(io.StringIO(newest.output))) == [
        ["line", "list", "bytes", "at"],
        ["two\n", "[1]", "FF", "2024-01-02 03:04:05.5"],
    ]
    assert "one" in reading("read", "read_sales@1").output
    assert reading("read", "publications.read_sales_v1", "-f", "csv").output == "line\none\n"


def test_a_view_is_read_as_its_last_run_left_it(reading: Treaty) -> None:
    said, *rows = reading("read", "read_view@1").output.splitlines()
    assert said == "publications.read_view_v1 as of run 14 (2026-01-02 00:00:00 UTC), contract shop.view 1.0.0, a view"
    assert rows == ["one", "14"]
    said, *rows = reading("read", "read_view", "--as-of", "2026-01-01T12:00Z").output.splitlines()
    assert said == "publications.read_view_v1 as of run 13 (2026-01-01 00:00:00 UTC), contract shop.view 1.0.0, a view"
    assert rows == ["one", "13"]
    assert (
        "run 12 published nothing in publications.read_view_v1" in reading("read", "read_view", "--as-of", "12").errors
    )


def test_error_lists_the_available_names(reading: Treaty) -> None:
    for arguments, words in {
        ("read_captur",): "there is no table read_captur; did you mean 'read_capture'? there are: ",
        ("read_sales@3",): "there is no table read_sales@3",
        ("read_capture", "--as-of", "7"): "run 7 published nothing in products.read_capture; its runs are: 30 (",
        (
            "read_capture",
            "--columns",
            "x",
        ): "products.read_capture has no column x; it has: id, amount, _outcome, _run",
        (
            "read_capture",
            "--outcome",
            "quarantind",
        ): "there is no outcome 'quarantind'; did you mean 'quarantined'? use one of: accepted, duplicate, conflicting",
        ("read_sales@1", "--outcome", "valid"): "the rows of publications.read_sales_v1 have no outcome",
        ("a b",): "'a b' is not a table name",
    }.items():
        answer = reading("read", *arguments)
        assert (answer.code, answer.output) == (1, "")
        assert words in answer.errors


def _without_terms(columns: StructType) -> StructType:
    return StructType([StructField(item.name, item.dataType) for item in columns])


PEOPLE: dict[str, Any] = document(
    {
        "id": "shop.people",
        "fields": [
            {"name": "email", "logicalType": "string", "classification": "restricted"},
            {"name": "city", "logicalType": "string"},
            {"name": "country", "logicalType": "string"},
        ],
        "data_policy": {
            "classifications": {"restricted": {"mask": "hash", "key": "people", "clear_for": ["support"]}},
            "fields": {"city": {"mask": "generalise", "to": "prefix", "length": 1, "clear_for": ["support"]}},
            "purposes": ["support", "analytics"],
            "residency": {"column": "country", "serve": {"DE": ["eu"], "US": ["us"]}},
        },
    }
)


@pytest.fixture
def subscribed(reading: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch) -> Treaty:
    """Register the contract of people and three consumers of it."""
    monkeypatch.setenv("TREATY_PEOPLE_KEY", "k1:a secret of this test only")
    assert reading("register", write("people.yaml", PEOPLE)).code == 0
    for name, purpose in (("desk", "support"), ("models", "analytics"), ("ads", "marketing")):
        options = ("--class", "operational_reporting", "--purpose", purpose, "--field", "email", "--field", "city")
        assert reading("consumer", "subscribe", name, "shop.people@1", *options, "--team", name).code == 0
    return reading


def test_a_consumer_reads_its_fields_masked_for_its_purpose_and_region(subscribed: Treaty) -> None:
    def read_as(consumer: str, region: str) -> list[dict[str, str]]:
        answer = subscribed("read", "read_people", "--for", consumer, "--region", region, "-f", "json")
        rows: list[dict[str, str]] = json.loads(answer.output)["rows"]
        return rows

    assert read_as("desk", "eu") == [{"email": "ann@example.org", "city": "Berlin"}]
    (masked,) = read_as("models", "us")
    assert masked["city"] == "B"
    assert masked["email"].startswith("k1:")
    assert len(masked["email"]) == len("k1:") + 64


def test_spark_reads_the_same_cells_as_the_command(subscribed: Treaty) -> None:
    command = json.loads(subscribed("read", "read_people", "--for", "models", "--region", "us", "-f", "json").output)

    rows = read("read_people@1", consumer="models", region="us")

    assert rows.columns == ["email", "city"]
    assert [row.asDict() for row in rows.collect()] == command["rows"]
    assert read("read_people@1", consumer="desk").count() == 0
    with pytest.raises(NotAllowed, match="'marketing' is not allowed"):
        read("read_people@1", consumer="ads", region="eu")
    with pytest.raises(NotFound, match="treaty consumer subscribe nobody"):
        read("read_people@1", consumer="nobody")


def test_without_a_region_no_rows_are_served_under_a_residency_rule(subscribed: Treaty) -> None:
    answer = subscribed("read", "read_people", "--for", "desk", "-f", "csv")
    assert answer.output.splitlines() == ["email,city"]


def test_what_a_consumer_may_not_read_is_refused(subscribed: Treaty) -> None:
    forbidden = subscribed("read", "read_people", "--for", "ads", "--region", "eu")
    undeclared = subscribed("read", "read_people", "--for", "desk", "--region", "eu", "--columns", "country")
    product = subscribed("read", "read_capture", "--for", "desk")

    assert (forbidden.code, undeclared.code, product.code) == (1, 1, 1)
    assert "the purpose 'marketing' is not allowed" in forbidden.errors
    assert "desk has no column country" in undeclared.errors
    assert "is not a publication" in product.errors


def test_a_missing_key_is_named_and_nothing_is_read(subscribed: Treaty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREATY_PEOPLE_KEY")
    answer = subscribed("read", "read_people", "--for", "models", "--region", "eu")
    assert answer.code == 1
    assert answer.output == ""
    assert "set TREATY_PEOPLE_KEY" in answer.errors


def test_reads_on_spark_and_on_the_command_line_are_in_the_access_log(subscribed: Treaty) -> None:
    subscribed("read", "read_people", "--for", "desk", "--region", "eu", "--columns", "city")
    read("read_people@1", consumer="models", region="eu")
    subscribed("read", "read_people", "--for", "ads", "--region", "eu")

    entries = json.loads(subscribed("consumer", "accesses", "--contract", "shop.people", "-f", "json").output)
    listed = entries["items"] if isinstance(entries, dict) else entries
    text = subscribed("consumer", "accesses", "--contract", "shop.people").output

    assert [
        (one["consumer"], one["decision"], one["fields"], one["rows"], one["purpose"], one["run"]) for one in listed
    ] == [
        ("ads", "purpose", [], 0, "marketing", None),
        ("models", "served", ["email", "city"], None, "analytics", 15),
        ("desk", "served", ["city"], 1, "support", 15),
    ]
    assert [line.split()[1:] for line in text.splitlines() if line.split()[0] == "rows"] == [
        ["0"],
        ["not", "known"],
        ["1"],
    ]
