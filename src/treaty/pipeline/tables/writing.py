"""One commit of rows with its stamp."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import InvalidDocument
from treaty.pipeline.tables.stamps import NewStamp
from treaty.spark.columns import named


def append_rows(rows: DataFrame, columns: spark.StructType, to: str, table: str, stamp: NewStamp | None) -> None:
    """Append rows in one commit that carries the stamp, if there is one yet; columns that they lack are null."""
    writer = laid_out(rows, columns, table).writeTo(to)
    for key, value in (stamp.properties() if stamp else {}).items():
        writer = writer.option(f"snapshot-property.{key}", value)
    writer.append()


def laid_out(rows: DataFrame, columns: spark.StructType, table: str) -> DataFrame:
    """Return the rows with the columns of their table, in its order."""
    given = set(rows.columns)
    unknown = given - set(columns.names)
    if unknown:
        raise InvalidDocument(f"{table} has no column {', '.join(sorted(unknown))}; it has: {', '.join(columns.names)}")
    missing = [item.name for item in columns if item.name not in given and not item.nullable]
    if missing:
        raise InvalidDocument(f"rows for {table} lack {', '.join(missing)}, which must have a value")
    return rows.select(*(_column(item, given) for item in columns))


def _column(item: spark.StructField, given: set[str]) -> Column:
    return named(item.name) if item.name in given else F.lit(None).cast(item.dataType).alias(item.name)
