"""Column names and expressions: quoted names, reserved names, folded conditions, malformed rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

VIOLATIONS_COLUMN = "_violations"
MALFORMED_COLUMN = "_corrupt_record"
ORIGIN_FILE, ORIGIN_POSITION = "_source_file", "_position"
"""The file that a quarantined row came from, and its position in it."""
INTERNAL_PREFIX = "__treaty_"


def quoted_col(name: str) -> Column:
    """Return the column of that name; the name may contain any character."""
    return F.col("`" + name.replace("`", "``") + "`")


def fold_columns(join: Callable[[Column, Column], Column], columns: Iterable[Column]) -> Column:
    """Join columns pairwise into a balanced tree: Spark Connect limits the nesting of expressions."""
    level = list(columns)
    while len(level) > 1:
        pairs = [join(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def all_of(conditions: Iterable[Column]) -> Column:
    """Whether every condition holds; true without conditions."""
    return fold_columns(operator.and_, list(conditions) or [F.lit(True)])


def any_of(conditions: Iterable[Column]) -> Column:
    """Whether any condition holds; false without conditions."""
    return fold_columns(operator.or_, list(conditions) or [F.lit(False)])


def evaluate_once(column: Column) -> Column:
    """Return the same column, evaluated only once.

    Spark copies an expression into every filter and column that uses it, which is expensive for a parsed text with
    sixty fields. It does not copy non-deterministic expressions, so the column is wrapped in one.
    """
    return F.when(F.monotonically_increasing_id() >= F.lit(0), column)


def bind(value: Column, use: Callable[[Column], Column]) -> Column:
    """Return an expression that uses a value several times and contains it once.

    Spark copies the expressions of columns into those that refer to them, in some rules of its optimizer even if they
    are evaluated only once; after a few steps that refer to each other several times, the copies fill the memory.
    """
    return F.element_at(F.transform(F.array(value), use), 1)


def keep_malformed_rows(frame: DataFrame) -> DataFrame:
    """Return the frame with malformed rows marked in the same way, whichever columns a query selects.

    Spark parses only the columns that a query uses and detects malformed lines by these alone; it refuses a query
    for the malformed column only. So that column depends on every column, at no cost for valid rows.
    """
    columns = [quoted_col(name) for name in frame.columns if name != MALFORMED_COLUMN]
    empty = F.substring(F.concat_ws("", *[column.isNull().cast("string") for column in columns]), 1, 0)
    line = quoted_col(MALFORMED_COLUMN)
    return frame.select(*columns, F.when(line.isNotNull(), F.concat(line, empty)).alias(MALFORMED_COLUMN))
