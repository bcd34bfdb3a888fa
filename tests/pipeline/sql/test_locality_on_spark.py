"""What is said to be computed key by key is: the whole result of a key is the result on the rows of that key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.sql.cases import COLUMNS, KEYS, TABLES, cases, query
from treaty.pipeline.sql import Local, locality
from treaty.pipeline.sql.functions import AGGREGATES, KNOWN, ROW, UNREPEATABLE, WINDOWS

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

LOCAL = [one.values[0] for one in cases("locality") if "local" in one.values[0]]
WHOLE = "whole"
Key = tuple[Any, ...]


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[dict[str, list[Row]]]:
    """Make the inputs of the cases tables of the session, and give their rows."""
    for name, table in TABLES.items():
        columns = ", ".join(f"`{one}`" for one in table["columns"])
        spark.sql(f"SELECT * FROM {table['rows']} AS t({columns})").createOrReplaceTempView(f"all_{name}")  # noqa: S608
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
    return f"WITH {', '.join(inputs)} SELECT * FROM ({sql})"  # noqa: S608


def test_the_result_of_a_key_is_the_result_on_its_rows(spark: SparkSession, tables: dict[str, list[Row]]) -> None:
    wrong: list[str] = []
    for case in LOCAL:
        keys: dict[str, list[str]] = case.get("keys", KEYS)
        found = locality(query(case["sql"]), keys)
        assert isinstance(found, Local)
        homes = {tuple(row[column] for column in columns) for name, columns in keys.items() for row in tables[name]}
        parts = {WHOLE: None} | {str(home): home for home in homes} | {"nobody": ("nobody",) * len(found.outputs)}
        together = " UNION ALL ".join(
            f"SELECT '{name.replace(chr(39), '')}' AS __part, * FROM ({restricted(case['sql'], keys, key)})"  # noqa: S608
            for name, key in parts.items()
        )
        rows = spark.sql(together).collect()
        part_of = {name.replace("'", ""): key for name, key in parts.items()}
        whole: dict[Key, Counter[str]] = {}
        alone: dict[Key, Counter[str]] = {}
        for row in rows:
            values = row.asDict()
            part = values.pop("__part")
            if part == WHOLE:
                key = tuple(row[column] for column in found.outputs)
                whole.setdefault(key, Counter())[str(values)] += 1
            else:
                alone.setdefault(part_of[part] or (), Counter())[str(values)] += 1
        if whole != alone:
            wrong.append(case["name"])

    assert wrong == []


def test_every_function_of_spark_is_known(spark: SparkSession) -> None:
    there = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect() if row[0].isidentifier()}

    assert there - KNOWN == {"range"}, "it makes a table"
    assert KNOWN - there <= {"current_time"} | ROW
    assert not ROW & (AGGREGATES | WINDOWS | UNREPEATABLE.keys())


def test_a_function_over_many_rows_is_never_taken_for_one_of_a_row(spark: SparkSession) -> None:
    described = {
        row[0]: spark.sql(f"DESCRIBE FUNCTION {row[0]}").collect()
        for row in spark.sql("SHOW SYSTEM FUNCTIONS LIKE '*agg*|approx_*|*percentile*|regr_*|bool_*|*_by|collect_*'").collect()
    }

    row_functions = {name for name in described if name in ROW}

    assert row_functions == {"aggregate"}
