"""What becomes of the columns of a legacy feed when its shape is served from clean rows."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot

from tests.documents import contract
from treaty.compatibility.migration.path import Fidelity
from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.legacy.emulation import EmulatedColumn, emulated_columns, emulated_feed, projection_sql
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed, LegacyTable, Tolerance

EXACT, LOSSY, IMPOSSIBLE = Fidelity
STATUS = [{"value": "sold"}, {"value": "refunded"}]
CLEAN: list[dict[str, Any]] = [
    {"name": "id", "logicalType": "string"},
    {"name": "day", "logicalType": "date"},
    {"name": "at", "logicalType": "timestamp"},
    {"name": "status", "logicalType": "string", "enum": STATUS},
    {"name": "note", "logicalType": "string"},
    {"name": "net", "logicalType": "number", "physicalType": "decimal(12,2)"},
    {"name": "lines", "logicalType": "array", "items": {"logicalType": "string"}},
]


def fields(described: list[dict[str, Any]]) -> dict[str, Field]:
    return {field.name or "": field for field in contract(described).schema[0].fields}


def feed(*rules: ColumnRule) -> LegacyFeed:
    return LegacyFeed("mart", LegacyTable("old.mart"), ("no",), "day", "Finance", comparison=Comparison("sale", rules))


def emulated(rule: ColumnRule, **target: Any) -> EmulatedColumn:
    legacy = fields([{"name": rule.legacy, "logicalType": "string", **target}])
    (column,) = emulated_columns(feed(rule), legacy, fields(CLEAN))
    return column


DECIMAL = {"logicalType": "number", "physicalType": "decimal(12,2)"}
CASES: dict[str, tuple[ColumnRule, dict[str, Any], Fidelity, str]] = {
    "another name": (ColumnRule("no", "id"), {}, EXACT, ""),
    "a number as text": (ColumnRule("net", "net"), {}, EXACT, ""),
    "a number with fewer digits": (
        ColumnRule("net", "net"),
        {"logicalType": "number", "physicalType": "decimal(12,1)"},
        LOSSY,
        "decimal(12,2) → decimal(12,1): digits are rounded",
    ),
    "a list as a number": (
        ColumnRule("count", "lines"),
        {"logicalType": "integer"},
        IMPOSSIBLE,
        "array → integer: no conversion exists; declare sql and back",
    ),
    "within a tolerance": (
        ColumnRule("net", "net", Tolerance(absolute=0.01)),
        DECIMAL,
        LOSSY,
        "values may differ from those of the feed, within the tolerance",
    ),
    "a code for each value": (
        ColumnRule("state", "status", codes={"S": "sold", "R": "refunded"}),
        {},
        EXACT,
        "",
    ),
    "two codes for a value": (
        ColumnRule("state", "status", codes={"S": "sold", "V": "sold", "R": "refunded"}),
        {},
        LOSSY,
        "S, V all mean sold: S is written",
    ),
    "a value without a code": (
        ColumnRule("state", "status", codes={"S": "sold"}),
        {},
        LOSSY,
        "refunded has no code and is written unchanged",
    ),
    "codes of open values": (
        ColumnRule("state", "note", codes={"S": "sold"}),
        {},
        LOSSY,
        "values without a code are written as they are",
    ),
    "a day in another format": (ColumnRule("day", "day", format="dd.MM.yyyy"), {}, EXACT, ""),
    "a day without its year": (
        ColumnRule("day", "day", format="dd.MM."),
        {},
        LOSSY,
        "dd.MM. does not show all of the value: y is not written",
    ),
    "a time to the second": (
        ColumnRule("at", "at", format="dd.MM.yyyy HH:mm:ss"),
        {},
        LOSSY,
        "dd.MM.yyyy HH:mm:ss does not show fractions of a second",
    ),
    "a time with fractions": (ColumnRule("at", "at", format="yyyyMMddHHmmssSSSSSS"), {}, EXACT, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_says_how_faithful_it_is(case: str) -> None:
    rule, target, fidelity, loss = CASES[case]

    column = emulated(rule, **target)

    assert (column.fidelity, "; ".join(column.losses)) == (fidelity, loss)
    assert column.source == rule.new


def test_a_column_without_a_mapping_is_impossible() -> None:
    (column,) = emulated_columns(feed(), fields([{"name": "job", "logicalType": "string"}]), fields(CLEAN))

    assert (column.source, column.fidelity) == (None, IMPOSSIBLE)
    assert column.losses == ("the clean rows have no value for it, so it is empty",)


def test_the_projection_keeps_the_lines_of_the_query() -> None:
    rules = (
        ColumnRule("no", "id"),
        ColumnRule("state", "status", codes={"S": "sold", "V": "sold"}),
        ColumnRule("day's", "day", format="dd.MM.yyyy"),
    )

    sql = projection_sql(feed(*rules), "SELECT *\nFROM orders; -- all\n")

    assert sql == (
        "SELECT clean_rows.`id` AS `no`, "
        "CASE CAST(clean_rows.`status` AS STRING) WHEN 'sold' THEN 'S' ELSE CAST(clean_rows.`status` AS STRING) END"
        " AS `state`, date_format(clean_rows.`day`, 'dd.MM.yyyy') AS `day's` "
        "FROM (SELECT *\nFROM orders -- all\n) AS clean_rows"
    )
    sqlglot.parse_one(sql, dialect="spark")


def test_a_feed_is_compared_with_its_emulation_code_by_code() -> None:
    rules = (
        ColumnRule("state", "status", codes={"S": "sold"}),
        ColumnRule("day", "on", Tolerance(seconds=60), format="dd.MM.yyyy"),
    )

    compared = emulated_feed(feed(*rules), "mart_files")

    assert compared.name == "mart_files"
    assert compared.comparison == Comparison(
        "mart_files",
        (
            ColumnRule("state", "state", codes=FrozenMap({"S": "S"})),
            ColumnRule("day", "day", Tolerance(seconds=60), format="dd.MM.yyyy", new_format="dd.MM.yyyy"),
        ),
    )
