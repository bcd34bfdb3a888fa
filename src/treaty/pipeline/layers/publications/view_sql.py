"""A publication as a view: one query over its inputs as they stood at a run, with the contract's columns and types.

A view is pinned to the snapshots that its run read, so that its readers see whole, audited runs only. Redactions and
delays are part of the query; a hash is not, since its salt would be there for everybody to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.publications.publication_rows import moment_column, not_given
from treaty.pipeline.layers.publications.redaction import redactions_sql
from treaty.pipeline.layers.sql_queries import understood, without_end
from treaty.pipeline.project.declarations import Delay, Publication, Redaction
from treaty.spark.schema import column_name, find_struct_field, select_object, spark_type
from treaty.spark.type_conversion import is_lossless, same_type

_CHOSEN = "treaty_chosen"
_OUR_LINES = 1
"""How many lines stand before those of the project."""
_NUMBERS = (
    *(spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType),
    *(spark.FloatType, spark.DoubleType, spark.DecimalType),
)


@dataclass(frozen=True)
class Pinned:
    """An input of a view: its table, the snapshot it is read at, and what of it is seen."""

    table: str
    """With its catalog and namespace."""
    snapshot: int
    columns: tuple[str, ...]
    outcomes: tuple[str, ...] = ()
    """The outcomes that stand; none where the table has no such column."""


@dataclass(frozen=True)
class ViewQuery:
    """The query of a view, and the same without its delay: what has to be audited, since time alone will show it."""

    text: str
    undelayed: str


def view_query(
    session: SparkSession, publication: Publication, contract: Contract, inputs: Mapping[str, Pinned]
) -> ViewQuery:
    """Return the query of a publication that is a view; its meaning is looked at, nothing runs."""
    for redaction in publication.redacted:
        if redaction.how is Redaction.HASH:
            raise InvalidDocument(
                f"{publication.at}: {redaction.field} cannot be hashed in a view, where the salt could be read; "
                "publish a table: as: table"
            )
    first = f"SELECT * FROM {quote_identifier(publication.inputs[0])}"  # noqa: S608
    text = without_end(publication.sql.text) if publication.sql else first
    given = ", ".join(f"{quote_identifier(name)} AS ({_standing(inputs[name])})" for name in publication.inputs)
    chosen = f"WITH {given}, {_CHOSEN} AS (\n{text}\n)"
    have = _schema(session, f"{chosen} SELECT * FROM {_CHOSEN}", publication)  # noqa: S608
    fields = select_object(contract).fields
    columns = ", ".join(_columns(fields, have, publication))
    named = f"{chosen} SELECT {columns} FROM {_CHOSEN}"  # noqa: S608
    typed = ", ".join(_typed(fields, _schema(session, named, publication), publication))
    seen = "" if publication.delay is None else f" WHERE {_is_visible(have, publication.delay, publication.at)}"
    query = f"{chosen} SELECT {typed} FROM (SELECT {columns} FROM {_CHOSEN}"  # noqa: S608
    return ViewQuery(f"{query}{seen})", f"{query})")


def _standing(pinned: Pinned) -> str:
    columns = ", ".join(map(quote_identifier, pinned.columns))
    table = ".".join(map(quote_identifier, pinned.table.split(".")))
    stand = f" WHERE _outcome IN ({', '.join(map(quote_string, pinned.outcomes))})" if pinned.outcomes else ""
    return f"SELECT {columns} FROM {table} VERSION AS OF {pinned.snapshot}{stand}"  # noqa: S608


def _schema(session: SparkSession, query: str, publication: Publication) -> spark.StructType:
    where = str(publication.sql.path) if publication.sql else publication.at
    with understood(where, _OUR_LINES):
        return session.sql(query).schema


def _columns(fields: Sequence[Field], have: spark.StructType, publication: Publication) -> Iterator[str]:
    """Yield the contract's columns by name, redacted; an optional one that nobody gives is empty."""
    replaced = redactions_sql(have, publication, None)
    for field in fields:
        name = column_name(field)
        found = find_struct_field(have, name)
        if found is not None:
            yield f"{replaced.get(found.name, quote_identifier(found.name))} AS {quote_identifier(name)}"
        elif field.is_required:
            raise not_given(name, have.names, publication)
        else:
            yield f"NULL AS {quote_identifier(name)}"


def _typed(fields: Sequence[Field], have: spark.StructType, publication: Publication) -> Iterator[str]:
    """Yield the columns by the contract's types, where no value can get lost on the way."""
    for field, given in zip(fields, have.fields, strict=True):
        want, name = spark_type(field), quote_identifier(column_name(field))
        if want is None or same_type(given.dataType, want):
            yield name
        elif isinstance(given.dataType, spark.NullType) or _fits(given.dataType, want):
            yield f"CAST({name} AS {want.simpleString()}) AS {name}"
        else:
            raise InvalidDocument(
                f"{publication.at}: {name} is {given.dataType.simpleString()}, and {publication.line} says "
                f"{want.simpleString()}; a view checks no values: cast it in the SQL, or publish a table"
            )


def _fits(have: spark.DataType, want: spark.DataType) -> bool:
    return isinstance(have, _NUMBERS) and isinstance(want, _NUMBERS) and is_lossless(have, want)


def _is_visible(have: spark.StructType, delay: Delay, at: str) -> str:
    moment = f"CAST({quote_identifier(moment_column(have, delay, at))} AS TIMESTAMP)"
    return f"{moment} <= current_timestamp() - make_dt_interval(0, 0, 0, {delay.duration.total_seconds():.6f})"
