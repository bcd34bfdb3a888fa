"""The query of a view: over inputs pinned to snapshots, with the columns and types of the contract.

A view reads the snapshots that its run read, so that its readers see complete, audited runs only. Redactions and delays
are part of the query; hashes are refused, since everybody could read their key in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.publications.publication_rows import delay_column, missing_column
from treaty.pipeline.layers.publications.redaction import redactions_sql
from treaty.pipeline.layers.sql_queries import located_sql_errors, without_semicolon
from treaty.pipeline.project.declarations import Delay, Publication, Redaction
from treaty.spark.schema import column_name, find_struct_field, select_object, spark_type
from treaty.spark.type_conversion import is_lossless, same_type

_SELECTED = "treaty_selected"
_LINES_BEFORE = 1
"""Number of lines before the first line of the project's query."""
_NUMBERS = (
    *(spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType),
    *(spark.FloatType, spark.DoubleType, spark.DecimalType),
)


@dataclass(frozen=True)
class PinnedInput:
    """An input of a view: its table, the snapshot to read, and which columns and rows."""

    table: str
    """The full name, with catalog and namespace."""
    snapshot: int
    columns: tuple[str, ...]
    outcomes: tuple[str, ...] = ()
    """The outcomes of rows to read; empty if the table has no outcomes."""


@dataclass(frozen=True)
class ViewQuery:
    """The query of a view, and the same without its delay, for the audit: delayed rows become visible without a run."""

    text: str
    without_delay: str


def view_query(
    session: SparkSession, publication: Publication, contract: Contract, inputs: Mapping[str, PinnedInput]
) -> ViewQuery:
    """Return the query of a publication that is a view. It is analysed, not executed."""
    for redaction in publication.redacted:
        if redaction.how is Redaction.HASH:
            raise InvalidDocument(
                f"{publication.at}: {redaction.field} cannot be hashed in a view, whose readers could see the key; "
                "publish a table instead: as: table"
            )
    first = f"SELECT * FROM {quote_identifier(publication.inputs[0])}"  # noqa: S608
    text = without_semicolon(publication.sql.text) if publication.sql else first
    given = ", ".join(f"{quote_identifier(name)} AS ({_pinned_rows(inputs[name])})" for name in publication.inputs)
    selected = f"WITH {given}, {_SELECTED} AS (\n{text}\n)"
    have = _schema(session, f"{selected} SELECT * FROM {_SELECTED}", publication)  # noqa: S608
    fields = select_object(contract).fields
    columns = ", ".join(_columns(fields, have, publication))
    named = f"{selected} SELECT {columns} FROM {_SELECTED}"  # noqa: S608
    typed = ", ".join(_typed(fields, _schema(session, named, publication), publication))
    seen = "" if publication.delay is None else f" WHERE {_is_visible(have, publication.delay, publication.at)}"
    query = f"{selected} SELECT {typed} FROM (SELECT {columns} FROM {_SELECTED}"  # noqa: S608
    return ViewQuery(f"{query}{seen})", f"{query})")


def _pinned_rows(pinned: PinnedInput) -> str:
    columns = ", ".join(map(quote_identifier, pinned.columns))
    table = ".".join(map(quote_identifier, pinned.table.split(".")))
    stand = f" WHERE _outcome IN ({', '.join(map(quote_string, pinned.outcomes))})" if pinned.outcomes else ""
    return f"SELECT {columns} FROM {table} VERSION AS OF {pinned.snapshot}{stand}"  # noqa: S608


def _schema(session: SparkSession, query: str, publication: Publication) -> spark.StructType:
    where = str(publication.sql.path) if publication.sql else publication.at
    with located_sql_errors(where, _LINES_BEFORE):
        return session.sql(query).schema


def _columns(fields: Sequence[Field], have: spark.StructType, publication: Publication) -> Iterator[str]:
    """Yield the columns of the contract, redacted; an optional field without a column is null."""
    replaced = redactions_sql(have, publication)
    for field in fields:
        name = column_name(field)
        column = find_struct_field(have, name)
        if column is not None:
            yield f"{replaced.get(column.name, quote_identifier(column.name))} AS {quote_identifier(name)}"
        elif field.is_required:
            raise missing_column(name, have.names, publication)
        else:
            yield f"NULL AS {quote_identifier(name)}"


def _typed(fields: Sequence[Field], have: spark.StructType, publication: Publication) -> Iterator[str]:
    """Yield the columns with the types of the contract; refuse casts that could lose values."""
    for field, given in zip(fields, have.fields, strict=True):
        want, name = spark_type(field), quote_identifier(column_name(field))
        if want is None or same_type(given.dataType, want):
            yield name
        elif isinstance(given.dataType, spark.NullType) or _fits(given.dataType, want):
            yield f"CAST({name} AS {want.simpleString()}) AS {name}"
        else:
            raise InvalidDocument(
                f"{publication.at}: {name} is {given.dataType.simpleString()}, but {publication.line} requires "
                f"{want.simpleString()}; a view does not check values: cast it in the SQL, or publish a table"
            )


def _fits(have: spark.DataType, want: spark.DataType) -> bool:
    return isinstance(have, _NUMBERS) and isinstance(want, _NUMBERS) and is_lossless(have, want)


def _is_visible(have: spark.StructType, delay: Delay, at: str) -> str:
    moment = f"CAST({quote_identifier(delay_column(have, delay, at))} AS TIMESTAMP)"
    return f"{moment} <= current_timestamp() - make_dt_interval(0, 0, 0, {delay.duration.total_seconds():.6f})"
