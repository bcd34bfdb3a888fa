"""Many columns folded into one, as a tree that stays shallow: what is sent to Spark may not nest deeply."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F


def folded(join: Callable[[Column, Column], Column], columns: Iterable[Column]) -> Column:
    """Join one or more columns two by two, neighbours first."""
    level = list(columns)
    while len(level) > 1:
        pairs = [join(one, other) for one, other in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def all_of(conditions: Iterable[Column]) -> Column:
    """Tell whether every condition holds; none at all do."""
    return folded(operator.and_, list(conditions) or [F.lit(True)])


def any_of(conditions: Iterable[Column]) -> Column:
    """Tell whether some condition holds; none at all do not."""
    return folded(operator.or_, list(conditions) or [F.lit(False)])
