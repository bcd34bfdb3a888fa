"""Keep malformed rows of text files, whichever columns a query uses."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.spark.columns import MALFORMED_COLUMN, quoted_col


def keep_malformed_rows(frame: DataFrame) -> DataFrame:
    """Return the frame with malformed rows marked in the same way, whichever columns a query selects.

    Spark parses only the columns that a query uses and detects malformed lines by these alone; it refuses a query
    for the malformed column only. So that column depends on every column, at no cost for valid rows.
    """
    columns = [quoted_col(name) for name in frame.columns if name != MALFORMED_COLUMN]
    empty = F.substring(F.concat_ws("", *[column.isNull().cast("string") for column in columns]), 1, 0)
    line = quoted_col(MALFORMED_COLUMN)
    return frame.select(*columns, F.when(line.isNotNull(), F.concat(line, empty)).alias(MALFORMED_COLUMN))
