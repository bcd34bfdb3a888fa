"""Generates the orders on Spark from the row number, with a known number of violations of every rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.enforce.columns import COLUMNS, draw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BLOCK = 2_000
"""The repeated keys follow a pattern of this many rows, so that sizes are multiples of it."""
_SHARES_KEY = f"pmod(n, 400) in (7, 8) or pmod(n, {_BLOCK}) = 9"
_FILES = 8


def orders(spark: SparkSession, rows: int, folder: Path) -> Path:
    """Write the orders, and beside them what is wrong with them, once; return where the parquet files are."""
    data = folder / f"orders-{rows}"
    if not answer_of(data).exists():
        drawn = _drawn(spark, rows)
        drawn.selectExpr(*(column.value for column in COLUMNS)).write.mode("overwrite").parquet(str(data))
        answer_of(data).write_text(json.dumps(_seeded(drawn, rows), indent=2))
    return data


def expected(data: Path) -> dict[str, int]:
    """Return how many rows break each rule, as they were seeded."""
    found: dict[str, int] = json.loads(answer_of(data).read_text())
    return found


def answer_of(data: Path) -> Path:
    """Return the file beside the orders that says what is wrong with them."""
    return data.with_name(f"{data.name}.json")


def _drawn(spark: SparkSession, rows: int) -> DataFrame:
    """Draw each row's key and its lot in each column."""
    assert rows % _BLOCK == 0, f"{rows:,} rows: use a multiple of {_BLOCK:,}"
    far = rows // 3 // 400 * 400
    key = (
        f"case when pmod(n, 400) = 7 then pmod(n + 1 + {far}, {rows}) "
        f"when pmod(n, {_BLOCK}) = 9 then pmod(n - 1 + {2 * far}, {rows}) else n end"
    )
    lots = (f"{draw(f'lot of {column.name}', 10_000)} as lot_{column.name}" for column in COLUMNS)
    return spark.range(0, rows, 1, _FILES).selectExpr("id as n").selectExpr("n", f"{key} as key", *lots)


def _seeded(drawn: DataFrame, rows: int) -> dict[str, int]:
    """Count the violations from the lots, without a look at the values."""
    lots: dict[str, list[str]] = {}
    for column in COLUMNS:
        for fault, lot in column.lots:
            lots.setdefault(fault.rule, []).append(lot)
    some = " or ".join(" or ".join(found) for found in lots.values())
    counts = [f"count_if({' or '.join(found)}) as `{rule}`" for rule, found in lots.items()]
    found = drawn.selectExpr(*counts, f"count_if({some} or {_SHARES_KEY}) as `quarantined`").collect()[0].asDict()
    repeated, thrice = rows // 400, rows // _BLOCK
    return {
        "row_count:row_count": rows,
        **found,
        "unique:order_id": 2 * repeated + thrice,
        "unique:order_id, values": repeated,
        "unique:order_id, rows too many": repeated + thrice,
    }
