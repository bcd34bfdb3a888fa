"""`treaty exceptions`: list, show and accept."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tests.cli.conftest import Treaty
from tests.pipeline.layers.reconciliation.orders import contract_of
from treaty.pipeline.layers.reconciliation.reconciliation_tables import exception_columns, reconciled_columns
from treaty.pipeline.tables import NewStamp, Tables

_CONTRACT = contract_of(
    [
        {"name": "shop", "logicalType": "integer", "primaryKey": True, "primaryKeyPosition": 1},
        {"name": "day", "logicalType": "string", "primaryKey": True, "primaryKeyPosition": 2},
        {"name": "amount", "logicalType": "number", "physicalType": "decimal(12,2)", "required": True},
    ]
)
_CLAIMS = (
    '{"claims":{"till":{"product":"tills","values":{"amount":10.00}},"bank":{"product":"banks","values":'
    '{"amount":12.50}}},"attributes":{"variance":2.50}}'
)
_SILENT = '{"claims":{"till":{"product":"tills","values":null}}}'
_BROKEN = '{"violations":[{"rule":"pattern:day","field":"day","value":"x","message":"must match"}]}'
_TWICE = '{"claims":{"till":{"product":"tills","rows":2,"values":{"amount":2},"other_values":{"amount":1}}}}'
_EXCEPTIONS: list[tuple[Any, ...]] = [
    (1, "mon", "booked", "conflict", "they differ", _CLAIMS, "d1", "Books", "open", None, 1, 60),
    (1, "mon", "amount", "missing", "amount is required", _SILENT, "d2", "Tills", "open", None, 2, 60),
    (1, "tue", "booked", "conflict", "they differ", _CLAIMS, "d3", "Books", "resolved", None, 1, 3),
    (2, "mon", "till", "duplicate", "several rows", _TWICE, "d4", "Tills", "accepted", "bo", 3, 60),
    (2, "tue", "contract", "conflict", "the settled row violates", _BROKEN, "d5", "Books", "open", None, 4, 60),
]
"""Exceptions, with the days of 2026 on which each was first and last seen."""
_OUTCOMES = [(1, "mon", "held"), (1, "tue", "resolved"), (2, "mon", "resolved"), (2, "tue", "held")]


@pytest.fixture
def project(spark: SparkSession, treaty: Treaty, tmp_path: Path) -> str:
    """A project whose reconciliation has run; its name is its own."""
    name = f"sales_{tmp_path.name.replace('-', '_')}"
    tables = Tables(spark, "lake")
    columns = exception_columns(_CONTRACT)
    start = datetime(2025, 12, 31, tzinfo=UTC)
    exceptions = [
        (*row[:10], row[9] and f"{row[9]} knows", start + timedelta(row[10]), start + timedelta(row[11]), 100)
        for row in _EXCEPTIONS
    ]
    _fill(tables, f"reconciliation.{name}_exceptions", columns, exceptions)
    outcomes = [(shop, day, None, outcome, 100) for shop, day, outcome in [*_OUTCOMES, (3, "mon", "resolved")]]
    _fill(tables, f"reconciliation.{name}", reconciled_columns(_CONTRACT), outcomes)
    place = {name: spark.conf.get(f"spark.sql.catalog.lake.{name}", "") for name in ("uri", "warehouse")}
    catalog = f"{{uri: '{place['uri']}', warehouse: '{place['warehouse']}', name: lake}}"
    (tmp_path / "treaty.yaml").write_text(f"name: shop\nspark:\n  iceberg: {catalog}\n")
    return name


def _fill(tables: Tables, table: str, columns: StructType, rows: list[tuple[Any, ...]]) -> None:
    tables.ensure(table, columns, {})
    stamp = NewStamp(100, {}, "shop.commercial_order 1.0.0", "digest", {})
    tables.append(table, tables.spark.createDataFrame(rows, columns), stamp)


def _listed(treaty: Treaty, project: str, *options: str) -> list[str]:
    result = treaty("exceptions", "list", "--reconciliation", project, "--format", "json", *options)
    assert result.code == 0, result.errors
    return [f"{one['key']} {one['assertion']}" for one in json.loads(result.output)["items"]]


def test_exceptions_are_listed_oldest_first_and_narrowed(treaty: Treaty, project: str) -> None:
    cases: dict[tuple[str, ...], list[str]] = {
        (): ["1,mon booked", "1,mon amount", "2,tue contract"],
        ("--state", "any"): ["1,mon booked", "1,tue booked", "1,mon amount", "2,mon till", "2,tue contract"],
        ("--state", "any", "--class", "conflict"): ["1,mon booked", "1,tue booked", "2,tue contract"],
        ("--owner", "Tills"): ["1,mon amount"],
        ("--older-than", "400000d"): [],
    }

    assert {options: _listed(treaty, project, *options) for options in cases} == cases

    first = json.loads(
        treaty("exceptions", "list", "--reconciliation", project, "--limit", "2", "--format", "json").output
    )
    rest = _listed(treaty, project, "--limit", "2", "--cursor", first["next"])
    assert rest == ["2,tue contract"]
    one = first["items"][0]
    assert one["key_fields"] == {"shop": 1, "day": "mon"}
    assert one["claims"]["claims"]["bank"] == {"product": "banks", "values": {"amount": "12.50"}}
    assert one["first_seen"] == "2026-01-01T00:00:00Z"
    assert one["age_seconds"] > 0

    text = treaty("exceptions", "list", "--reconciliation", project).output
    assert text.split()[:7] == ["key", "reconciliation", "assertion", "class", "state", "owner", "age"]
    assert [said for said in ("1,mon", "they differ", " d ") if said not in text] == []


def test_a_key_is_shown_with_claims_side_by_side_and_what_to_do(treaty: Treaty, project: str) -> None:
    held = treaty("exceptions", "show", "1,mon", "--reconciliation", project).output
    accepted = treaty("exceptions", "show", "2,mon", "--reconciliation", project).output
    broken = treaty("exceptions", "show", "2,tue", "--reconciliation", project).output
    sound = treaty("exceptions", "show", "3,mon", "--reconciliation", project).output

    for said in (
        f"{project} 1,mon  held",
        "amount = 10.00",
        "amount = 12.50",
        "variance = 2.50",
        "no row for this key",
        "ask tills for it",
        'treaty exceptions accept 1,mon --assertion booked --reason "…"',
        "first 2026-01-01 00:00, last 2026-03-01 00:00 UTC",
    ):
        assert said in held
    assert [
        said for said in ("2 rows", "amount = 1", "is open again when a claim changes") if said not in accepted
    ] == []
    assert [said for said in ("pattern:day", "a violated contract cannot be accepted") if said not in broken] == []
    assert "no exceptions" in sound


def test_an_acceptance_is_kept_with_who_and_why(treaty: Treaty, project: str, spark: SparkSession) -> None:
    def accept(key: str, assertion: str, reason: str = "they settled by phone") -> Any:
        return treaty(
            "exceptions", "accept", key, "--assertion", assertion, "--reason", reason, "--reconciliation", project
        )

    result = accept("1,mon", "booked")

    assert result.code == 0, result.errors
    assert "ada accepts booked of 1,mon" in result.output
    assert "the next run resolves the key" in result.output
    rows = Tables(spark, "lake").read(f"reconciliation.{project}_acceptances").collect()
    assert [
        (row["shop"], row["day"], row["assertion"], row["claims_digest"], row["reason"], row["actor"]) for row in rows
    ] == [(1, "mon", "booked", "d1", "they settled by phone", "ada")]
    assert rows[0]["_run"] > 100
    assert "by ada" in treaty("exceptions", "show", "1,mon", "--reconciliation", project).output

    refusals = {
        ("1,mon", "amount", "r"): (3, "a missing required value cannot be accepted"),
        ("2,tue", "contract", "r"): (3, "a row that violates its contract cannot be accepted"),
        ("1,tue", "booked", "r"): (1, "'booked' of 1,tue is already resolved"),
        ("2,mon", "till", "r"): (1, "bo has already accepted 'till' of 2,mon: "),
        ("1,mon", "label", "r"): (1, "1,mon has no exception 'label'; its exceptions are: booked, amount"),
        ("9,mon", "booked", "r"): (1, "no reconciliation has the key '9,mon'"),
        ("1,mon", "booked", " "): (1, "a reason is required"),
    }
    for asked, (code, says) in refusals.items():
        refused = accept(*asked)
        assert (refused.code, says in refused.errors) == (code, True), refused.errors


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("list", "--older-than", "soon"), 2, "'soon' is not a duration; write it like 12h or 7d"),
        (("list", "--reconciliation", "nothing"), 1, "no reconciliation 'nothing' has run"),
        (("list", "--cursor", "x"), 1, "'x' is not a valid cursor"),
    ],
)
def test_invalid_combinations_are_reported(
    treaty: Treaty, project: str, arguments: tuple[str, ...], code: int, says: str
) -> None:
    result = treaty("exceptions", *arguments)

    assert result.code == code
    assert says in " ".join(result.errors.replace("│", " ").split())


def test_outside_of_a_project_the_folder_is_named(treaty: Treaty) -> None:
    result = treaty("exceptions", "list")

    assert result.code == 1
    assert result.errors == (
        "error: there is no treaty.yaml in this folder or above it; change to the folder of a project, or create one "
        "with: treaty init\n"
    )
