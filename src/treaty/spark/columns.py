"""Column names that Treaty adds itself, and columns by name."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

VIOLATIONS_COLUMN = "_violations"
MALFORMED_COLUMN = "_corrupt_record"
INTERNAL_PREFIX = "__treaty_"


def quoted_col(name: str) -> Column:
    """Return the column of that name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def fold_columns(join: Callable[[Column, Column], Column], columns: Iterable[Column]) -> Column:
    """Join one or more columns two by two, neighbours first."""
    level = list(columns)
    while len(level) > 1:
        pairs = [join(one, other) for one, other in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def all_of(conditions: Iterable[Column]) -> Column:
    """Tell whether every condition holds; none at all do."""
    return fold_columns(operator.and_, list(conditions) or [F.lit(True)])


def any_of(conditions: Iterable[Column]) -> Column:
    """Tell whether some condition holds; none at all do not."""
    return fold_columns(operator.or_, list(conditions) or [F.lit(False)])


def evaluate_once(column: Column) -> Column:
    """Return the same column, kept where it stands in the plan.

    Spark writes a column out again in every filter and column that uses it. That is fine for a cast, and ruin for a
    parsed text of sixty fields. What is not deterministic stays in one place, so the parser is given a reason to.
    """
    return F.when(F.monotonically_increasing_id() >= F.lit(0), column)
