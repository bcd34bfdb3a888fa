"""The rows of a publication: its query, or the columns of its only input, laid out by the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.publications.redaction import redacted
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Delay, Publication
from treaty.spark.columns import quoted_col
from treaty.spark.schema import column_name, find_struct_field, select_object, spark_type


def build_publication(
    inputs: Mapping[str, DataFrame],
    publication: Publication,
    contract: Contract,
    now: datetime,
    *,
    salt: str | None = None,
) -> DataFrame:
    """Return the rows that may be seen now, with exactly the contract's columns in their order.

    Values keep the types that the query gives them; `judged_for_publication` reads them as the contract's types, and
    refuses those that would lose something. The salt goes into hashes; see `salt_for`.
    """
    rows = chosen_rows(inputs, publication)
    if publication.delay is not None:
        rows = visible(rows, publication.delay, now, publication.at)
    return _laid_out(redacted(rows, publication, salt), publication, contract)


def chosen_rows(inputs: Mapping[str, DataFrame], publication: Publication) -> DataFrame:
    """Return the rows of the query, or of the only input, with every column and whenever they may be seen."""
    absent = [name for name in publication.inputs if name not in inputs]
    if absent:
        raise InvalidDocument(f"{publication.at}: publication {publication.name} reads {absent[0]!r}, which is missing")
    frames = {name: inputs[name] for name in publication.inputs}
    first = next(iter(frames.values()))
    if publication.sql is not None:
        return run_sql(first.sparkSession, publication.sql, frames)
    if len(frames) > 1:
        raise InvalidDocument(
            f"{publication.at}: publication {publication.name} reads {', '.join(frames)}; "
            "say with sql: how they are put together"
        )
    return first


def _laid_out(rows: DataFrame, publication: Publication, contract: Contract) -> DataFrame:
    have = rows.schema
    return rows.select(*[_column(field, have, publication) for field in select_object(contract).fields])


def _column(field: Field, have: spark.StructType, publication: Publication) -> Column:
    """Return the column of a field; an optional one that nobody gives is empty."""
    name = column_name(field)
    found = find_struct_field(have, name)
    if found is not None:
        return quoted_col(found.name).alias(name)
    if field.is_required:
        raise not_given(name, have.names, publication)
    return F.lit(None).cast(spark_type(field) or spark.StringType()).alias(name)


def not_given(name: str, given: Sequence[str], publication: Publication) -> InvalidDocument:
    """Return the error for a required field that no column stands for."""
    where = publication.sql.path if publication.sql else f"its input {publication.inputs[0]}"
    return InvalidDocument(
        f"{publication.at}: {publication.line} requires {name!r}, which {where} does not give; "
        f"it gives: {', '.join(given)}"
    )


_MOMENTS = (spark.TimestampType, spark.TimestampNTZType, spark.DateType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible(rows: DataFrame, delay: Delay, now: datetime, at: str = "") -> DataFrame:
    """Return the rows whose moment lies back far enough; a row without a moment is never seen."""
    return rows.where(_moment(rows, delay, at) <= _at(now - delay.duration))


def moment_column(have: spark.StructType, delay: Delay, at: str = "") -> str:
    """Return the column that a delay counts by, which must be a moment."""
    found = find_struct_field(have, delay.by)
    if found is None or not isinstance(found.dataType, _MOMENTS):
        what = "which is not there" if found is None else f"which is {found.dataType.simpleString()}"
        where = f"{at}: " if at else ""
        raise InvalidDocument(f"{where}delay counts by {delay.by!r}, {what}; name a column that is a date or timestamp")
    return found.name


def _moment(rows: DataFrame, delay: Delay, at: str) -> Column:
    return quoted_col(moment_column(rows.schema, delay, at)).cast("timestamp")


def _at(moment: datetime) -> Column:
    """Return a moment as a column, whatever the time zone of this process and of the session."""
    return F.timestamp_micros(F.lit((moment - _EPOCH) // timedelta(microseconds=1)).cast("long"))
