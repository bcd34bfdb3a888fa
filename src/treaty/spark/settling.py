"""Columns that are worked out once, however often they are used."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def settled(column: Column) -> Column:
    """Return the same column, kept where it stands in the plan.

    Spark writes a column out again in every filter and column that uses it. That is fine for a cast, and ruin for a
    parsed text of sixty fields. What is not deterministic stays in one place, so the parser is given a reason to.
    """
    return F.when(F.monotonically_increasing_id() >= F.lit(0), column)
