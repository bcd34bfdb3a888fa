"""Rows of files in which a row can be malformed: the line stays with them, whatever is asked of the frame."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.spark.columns import MALFORMED_COLUMN, quoted_col


def keep_malformed_rows(frame: DataFrame) -> DataFrame:
    """Return the frame with its malformed rows marked the same whichever columns are asked for.

    Spark parses only the columns that a query uses, and a line is malformed only by what was parsed of it; a query for
    nothing but that column it refuses. So the mark is made to use every column, at no cost for the rows that are fine.
    """
    columns = [quoted_col(name) for name in frame.columns if name != MALFORMED_COLUMN]
    nothing = F.substring(F.concat_ws("", *[column.isNull().cast("string") for column in columns]), 1, 0)
    line = quoted_col(MALFORMED_COLUMN)
    return frame.select(*columns, F.when(line.isNotNull(), F.concat(line, nothing)).alias(MALFORMED_COLUMN))
