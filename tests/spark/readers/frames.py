"""The rows of a frame as plain values."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Row

from treaty.spark.readers import MALFORMED_COLUMN


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows as nested tuples, without the column of malformed rows."""
    return [plain(row) for row in frame.drop(MALFORMED_COLUMN).collect()]


def malformed(frame: DataFrame) -> list[str]:
    """Return the texts of malformed rows."""
    return [row[MALFORMED_COLUMN] for row in frame.where(f"{MALFORMED_COLUMN} IS NOT NULL").collect()]


def plain(value: Any) -> Any:
    if isinstance(value, Row):
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
