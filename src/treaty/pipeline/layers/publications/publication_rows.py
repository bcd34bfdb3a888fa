"""The rows of a publication: its query or only input, delayed, redacted, with the columns of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.publications.redaction import redact
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
    """Return the rows that readers may see now, with exactly the columns of the contract, in its order.

    Values keep the types of the query; `check_for_publication` converts them to the types of the contract, and refuses
    values that would lose something. The salt is for hashes; see `salt_for`.
    """
    rows = select_rows(inputs, publication)
    if publication.delay is not None:
        rows = visible_rows(rows, publication.delay, now, publication.at)
    return _contract_columns(redact(rows, publication, salt), publication, contract)


def select_rows(inputs: Mapping[str, DataFrame], publication: Publication) -> DataFrame:
    """Return the rows of the query or of the only input, before delay and redaction."""
    missing = [name for name in publication.inputs if name not in inputs]
    if missing:
        raise InvalidDocument(
            f"{publication.at}: publication {publication.name} reads {missing[0]!r}, which is missing"
        )
    frames = {name: inputs[name] for name in publication.inputs}
    first = next(iter(frames.values()))
    if publication.sql is not None:
        return run_sql(first.sparkSession, publication.sql, frames)
    if len(frames) > 1:
        raise InvalidDocument(
            f"{publication.at}: publication {publication.name} reads {', '.join(frames)}; add sql: to combine them"
        )
    return first


def _contract_columns(rows: DataFrame, publication: Publication, contract: Contract) -> DataFrame:
    have = rows.schema
    return rows.select(*[_column(field, have, publication) for field in select_object(contract).fields])


def _column(field: Field, have: spark.StructType, publication: Publication) -> Column:
    """Return the column of a field; an optional field without a column is null."""
    name = column_name(field)
    found = find_struct_field(have, name)
    if found is not None:
        return quoted_col(found.name).alias(name)
    if field.is_required:
        raise missing_column(name, have.names, publication)
    return F.lit(None).cast(spark_type(field) or spark.StringType()).alias(name)


def missing_column(name: str, given: Sequence[str], publication: Publication) -> InvalidDocument:
    """Return the error for a required field without a column."""
    where = publication.sql.path if publication.sql else f"its input {publication.inputs[0]}"
    return InvalidDocument(
        f"{publication.at}: {publication.line} requires {name!r}, but {where} has no such column; "
        f"it has: {', '.join(given)}"
    )


_TIME_TYPES = (spark.TimestampType, spark.TimestampNTZType, spark.DateType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible_rows(rows: DataFrame, delay: Delay, now: datetime, at: str = "") -> DataFrame:
    """Return the rows whose time is past by at least the delay; rows without a time are never visible."""
    return rows.where(_moment(rows, delay, at) <= _at(now - delay.duration))


def delay_column(have: spark.StructType, delay: Delay, at: str = "") -> str:
    """Return the column that a delay is counted from, which must be a date or timestamp."""
    found = find_struct_field(have, delay.by)
    if found is None or not isinstance(found.dataType, _TIME_TYPES):
        problem = "which does not exist" if found is None else f"which is {found.dataType.simpleString()}"
        where = f"{at}: " if at else ""
        raise InvalidDocument(f"{where}delay counts by {delay.by!r}, {problem}; name a date or timestamp column")
    return found.name


def _moment(rows: DataFrame, delay: Delay, at: str) -> Column:
    return quoted_col(delay_column(rows.schema, delay, at)).cast("timestamp")


def _at(moment: datetime) -> Column:
    """Return a time as a column that does not depend on the time zone of the process or session."""
    return F.timestamp_micros(F.lit((moment - _EPOCH) // timedelta(microseconds=1)).cast("long"))
