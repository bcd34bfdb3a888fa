# ruff: noqa: S608
"""Keyed queries on Spark: the result on the rows of a key is the part of the full result with that key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from tests.sql.project_cases import COLUMNS, KEYS, TABLES, cases, query
from treaty.sql.functions import AGGREGATES, KNOWN, ROW, UNREPEATABLE, WINDOWS
from treaty.sql.key_dependency import KeyedQuery, analyse_key_dependency

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

LOCAL = [column.values[0] for column in cases("key_dependency") if "local" in column.values[0]]
Key = tuple[Any, ...]


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[dict[str, list[Row]]]:
    """Make the inputs of the cases tables of the session, and give their rows."""
    for name, table in TABLES.items():
        columns = ", ".join(f"`{column}`" for column in table["columns"])
        spark.sql(f"SELECT * FROM {table['rows']} AS t({columns})").createOrReplaceTempView(f"all_{name}")
    yield {name: spark.table(f"all_{name}").collect() for name in TABLES}
    for name in TABLES:
        spark.catalog.dropTempView(f"all_{name}")


def literal(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def restricted(sql: str, keys: Mapping[str, Sequence[str]], key: Key | None) -> str:
    """Return the query over the rows of a key, or over all rows."""
    inputs = []
    for name in COLUMNS:
        same = [f"`{column}` <=> {literal(part)}" for column, part in zip(keys.get(name, ()), key or (), strict=False)]
        where = f" WHERE {' AND '.join(same)}" if same else ""
        inputs.append(f"{name} AS (SELECT * FROM all_{name}{where})")
    return f"WITH {', '.join(inputs)} SELECT * FROM ({sql})"


def some_keys(keys: Mapping[str, Sequence[str]], tables: dict[str, list[Row]]) -> list[Key]:
    """Return a few keys: one that is missing, one with many rows, one that few tables have, and one that none has."""
    available = {tuple(row[column] for column in columns) for name, columns in keys.items() for row in tables[name]}
    known = sorted(available, key=str)
    return [*known[:2], known[-1], ("nobody",) * len(known[0])]


def test_result_of_a_key_equals_the_result_on_its_rows(spark: SparkSession, tables: dict[str, list[Row]]) -> None:
    wrong: list[str] = []
    for case in LOCAL:
        keys: dict[str, list[str]] = case.get("keys", KEYS)
        dependency = analyse_key_dependency(query(case["sql"]), keys)
        assert isinstance(dependency, KeyedQuery)
        homes = some_keys(keys, tables)
        parts = [restricted(case["sql"], keys, home) for home in (None, *homes)]
        numbered = [f"SELECT {number} AS __part, * FROM ({part})" for number, part in enumerate(parts)]
        full = {home: Counter[str]() for home in homes}
        alone = {home: Counter[str]() for home in homes}
        for row in spark.sql(" UNION ALL ".join(numbered)).collect():
            values = row.asDict()
            part = values.pop("__part")
            home = tuple(row[column] for column in dependency.outputs)
            if part:
                alone[homes[part - 1]][str(values)] += 1
            elif home in full:
                full[home][str(values)] += 1
        if full != alone:
            wrong.append(case["name"])

    assert wrong == []


def test_all_functions_of_spark_are_classified(spark: SparkSession) -> None:
    available = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect() if row[0].isidentifier()}

    assert available - KNOWN == {"range"}, "it makes a table"
    assert KNOWN - available <= {"current_time"} | ROW
    assert not ROW & (AGGREGATES | WINDOWS | UNREPEATABLE.keys())


def test_aggregates_are_not_row_functions(spark: SparkSession) -> None:
    described = {
        row[0]: spark.sql(f"DESCRIBE FUNCTION {row[0]}").collect()
        for row in spark.sql(
            "SHOW SYSTEM FUNCTIONS LIKE '*agg*|approx_*|*percentile*|regr_*|bool_*|*_by|collect_*'"
        ).collect()
    }

    row_functions = {name for name in described if name in ROW}

    assert row_functions == {"aggregate"}
