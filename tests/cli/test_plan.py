"""`treaty plan`: what a run would do, and problems of the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from treaty import load

RETAIL = Path(__file__).parents[2] / "examples" / "retail" / "pipeline"
FIELDS = [
    {"name": "event_id", "logicalType": "string", "required": True},
    {"name": "bike_id", "logicalType": "string", "required": True, "primaryKey": True},
    {"name": "seq", "logicalType": "integer"},
    {"name": "city", "logicalType": "string"},
]
SQL = "SELECT bike_id, max_by(city, seq) AS city\nFROM bike_seen\nGROUP BY bike_id\n"


@pytest.fixture
def bikes(write: Write) -> Write:
    """A project of one source and one product, with a contract for each."""
    write("contracts/seen.yaml", {"id": "bikes.seen", "fields": FIELDS})
    write("contracts/bikes.yaml", {"id": "bikes.bikes", "fields": [FIELDS[1], FIELDS[3]]})
    write("sources/bike_seen.yaml", "contract: bikes.seen@1\nfiles: landing/*.jsonl\n")
    write("products/bikes.yaml", "contract: bikes.bikes@1\nfrom: [bike_seen]\nsql: sql/bikes.sql\n")
    write("sql/bikes.sql", SQL)
    write("landing/one.jsonl", '{"event_id": "1", "bike_id": "b", "seq": 1, "city": "Bonn"}\n')
    iceberg = "{name: lake, uri: 'jdbc:sqlite:lake.db', warehouse: lake}"
    write("treaty.yaml", f"name: bikes\nspark: {{iceberg: {iceberg}}}\n")
    return write


def test_the_plan_of_the_retailer_has_no_problems_and_goes_by_key(treaty: Treaty) -> None:
    result = treaty("plan", str(RETAIL), "--offline", "--select", "finance_recognized_sale_v2", "--select", "+returns")

    assert result.code == 0
    assert result.output.startswith("retail: 4 steps · no problems\n")
    assert "\npublications\n" in result.output
    assert "finance_recognized_sale_v2  by order_id  reads commercial_order, order_capture" in result.output


def test_lineage_goes_back_to_events(treaty: Treaty) -> None:
    result = treaty("plan", str(RETAIL), "--offline", "--lineage", "commercial_order.order_currency_code")

    said = " ".join(result.output.split())
    assert "from order_capture.order_currency_code, payment_settlement.settlement_currency_code" in said
    assert "which come from order_placed.order_total.currency_code" in said


def test_change_feed_is_called_one(treaty: Treaty, bikes: Write) -> None:
    bikes("sources/bike_seen.yaml", "contract: bikes.seen@1\nfiles: landing/*.jsonl\nchange_feed: debezium\n")

    result = treaty("plan", "--offline")

    assert "bike_seen  new rows  change feed, not a business contract" in result.output


def test_json_has_the_full_plan(treaty: Treaty, bikes: Write) -> None:
    result = treaty("plan", "--offline", "--format", "json", "--lineage", "*")

    data = json.loads(result.output)
    product = data["steps"][-1]
    assert [step["table"] for step in data["steps"]] == ["raw.bike_seen", "events.bike_seen", "products.bikes"]
    assert (product["mode"], product["key"]) == (
        "keyed",
        {"columns": ["bike_id"], "inputs": {"events.bike_seen": ["bike_id"]}},
    )
    assert (product["would_run"], product["contract"]) == (None, "bikes.bikes 1.0.0")
    assert data["problems"] == []
    assert data["lineage"][1] == {
        "name": "bikes",
        "column": "city",
        "from": ["bike_seen.city", "bike_seen.seq"],
        "events": ["bike_seen.city", "bike_seen.seq"],
        "filters": [],
        "row_filters": ["bike_seen.bike_id"],
    }


def test_problems_have_a_place_a_hint_and_an_exit_code_of_their_own(treaty: Treaty, bikes: Write) -> None:
    bikes("sql/bikes.sql", "SELECT bike_id,\n first(ctiy) AS city FROM bike_seen")

    result = treaty("plan", "--offline")
    data = json.loads(treaty("plan", "--offline", "--format", "json").output)

    assert result.code == 3
    assert "bikes: 3 steps · 1 problem" in result.output
    assert "✗ sql/bikes.sql:2  there is no column ctiy\n  did you mean 'city'?  (sql-column)" in result.output
    assert [(one["id"], one["line"]) for one in data["problems"]] == [("sql-column", 2)]


def test_a_project_that_cannot_be_read_says_all_that_is_wrong(treaty: Treaty, bikes: Write) -> None:
    bikes("products/bikes.yaml", "contract: bikes.bikes@1\nfrom: [bike_sen]\nsq: sql/bikes.sql\n")

    result = treaty("plan", "--offline")
    data = json.loads(treaty("plan", "--offline", "--format", "json").output)

    assert result.code == 3
    assert "the project cannot be read: 2 problems" in result.output
    assert len(data["problems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--select", "bkes"), "the project has no 'bkes'; did you mean 'bikes'?"),
        (("--lineage", "bkes"), "called 'bkes'; did you mean 'bikes'?"),
        (("--lineage", "bikes.ctiy"), "bikes has no column 'ctiy'; did you mean 'city'?"),
    ],
)
def test_a_misspelt_name_is_answered_with_what_was_meant(
    treaty: Treaty, bikes: Write, arguments: tuple[str, ...], says: str
) -> None:
    result = treaty("plan", "--offline", *arguments)

    assert result.code == 1
    assert says in result.errors


def test_without_a_catalog_the_local_lake_is_used(treaty: Treaty, bikes: Write) -> None:
    bikes("treaty.yaml", "name: bikes\n")

    assert treaty("plan").output.startswith("bikes: 3 steps · 3 would run · no problems\n")


def test_tables_sources_and_types_are_looked_at_without_spark(treaty: Treaty, bikes: Write) -> None:
    bikes("sql/bikes.sql", SQL.replace("max_by(city, seq)", "max(seq)"))

    result = treaty("plan")
    data = json.loads(treaty("plan", "--format", "json").output)

    assert result.code == 3
    assert "bikes: 3 steps · 3 would run · 1 problem" in result.output
    assert "bike_seen  new rows  1 new file" in result.output
    assert "bikes: city is int, but bikes.bikes 1.0.0 requires string" in result.output
    assert [step["would_run"] for step in data["steps"]] == [True] * 3
    assert [step["this_time"] for step in data["steps"]] == ["append", "full", "full"]


DRAFT = """\
kind: DataContract
apiVersion: v3.2.0
id: bikes.city_bikes
version: 2.0.0
status: draft
description:
  purpose: TODO
schema:
- name: city_bikes
  properties:
  - name: city
    logicalType: string
    required: true
    primaryKey: true
  - name: bikes
    logicalType: integer
    logicalTypeOptions:
      format: i64
  - name: names
    logicalType: string
    description: 'TODO: the type does not follow from the SQL'
owners:
- team: TODO
"""


def test_missing_contracts_are_drafted_from_the_sql(treaty: Treaty, bikes: Write, tmp_path: Path) -> None:
    (tmp_path / "contracts" / "bikes.yaml").unlink()
    bikes("publications/city_bikes.yaml", "contract: bikes.city_bikes@2\nfrom: [bikes]\nsql: sql/cities.sql\n")
    bikes("sql/cities.sql", "SELECT city, count(*) AS bikes, concat(max(bike_id)) AS names FROM bikes GROUP BY city\n")

    result = treaty("plan", "--draft")

    assert result.code == 0, result.errors
    assert result.output.splitlines() == [
        "wrote contracts/bikes.bikes.yaml",
        "  to decide: owner, purpose and descriptions",
        "wrote contracts/bikes.city_bikes.v2.yaml",
        "  to decide: owner, purpose and descriptions",
        "  to decide: the types of names, which do not follow from the SQL",
        "next: treaty plan",
    ]
    assert (tmp_path / "contracts" / "bikes.city_bikes.v2.yaml").read_text() == DRAFT
    product = load((tmp_path / "contracts" / "bikes.bikes.yaml").read_text()).contract
    assert [(field.name, field.is_required, field.primary_key) for field in product.schema[0].fields] == [
        ("bike_id", True, True),
        ("city", False, None),
    ]
    assert treaty("plan", "--draft").output == "no contract is missing\n"


def test_sql_with_a_problem_gives_no_draft(treaty: Treaty, bikes: Write, tmp_path: Path) -> None:
    (tmp_path / "contracts" / "bikes.yaml").unlink()
    bikes("sql/bikes.sql", "SELECT bike_id, town AS city FROM bike_seen")

    result = treaty("plan", "--draft")

    assert result.code == 3
    assert "not drafted: " in result.output
    assert "sql/bikes.sql:1: there is no column town" in result.output
    (tmp_path / "contracts" / "seen.yaml").unlink()
    assert "no contract bikes.seen@1; draft it with: treaty infer DATA" in treaty("plan", "--draft").errors
