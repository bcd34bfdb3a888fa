"""Some rows of a table for people: pinned to a stamp, with every value as a text that loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import NotFound
from treaty.pipeline.tables.failures import told_of
from treaty.pipeline.tables.finding import Wanted, find_table, stamp_as_of
from treaty.pipeline.tables.layout import OUTCOME
from treaty.pipeline.tables.stamps import Stamp
from treaty.pipeline.tables.tables import Tables
from treaty.pipeline.tables.views import view_stamp
from treaty.spark.columns import named

_JSON = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": "false"}
_INSIDE = (spark.StructType, spark.ArrayType, spark.MapType)


@dataclass(frozen=True)
class Question:
    """Which rows of what somebody wants to see."""

    name: str
    as_of: str | None = None
    columns: tuple[str, ...] = ()
    """Without any: those of the contract."""
    outcome: str | None = None
    """Without one: the rows that stand."""
    limit: int = 20


@dataclass(frozen=True)
class Shown:
    """Rows, and where they come from."""

    table: str
    stamp: Stamp
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    records: tuple[str, ...]
    """The same rows as JSON objects."""
    is_all: bool


def show(tables: Tables, question: Question) -> Shown:
    """Return the rows that were asked for."""
    wanted = find_table(tables, question.name)
    stamp = stamp_as_of(wanted, _stamps(tables, wanted), question.as_of)
    frame = _rows(tables, wanted, stamp, question.outcome)
    with told_of(wanted.table):
        names = _columns(frame, question.columns, wanted.table)
        record = F.to_json(F.struct(*map(named, names)), _JSON)
        texts = [_text(frame, name).alias(f"c{place}") for place, name in enumerate(names)]
        found = frame.select(record.alias("record"), *texts).limit(question.limit + 1).collect()
    kept = found[: question.limit]
    return Shown(
        wanted.table,
        stamp,
        tuple(names),
        tuple(tuple(row)[1:] for row in kept),
        tuple(row["record"] for row in kept),
        len(found) <= question.limit,
    )


def _stamps(tables: Tables, wanted: Wanted) -> tuple[Stamp, ...]:
    """Return what was published; a view is replaced each time, so that only its last stamp is there."""
    if not wanted.is_view:
        return tables.stamps(wanted.table)
    stamp = view_stamp(tables.spark, tables.place, wanted.table)
    return () if stamp is None else (stamp,)


def _rows(tables: Tables, wanted: Wanted, stamp: Stamp, outcome: str | None) -> DataFrame:
    table = wanted.table
    if wanted.is_view and outcome is None:
        with told_of(table):
            return tables.spark.table(tables.place.full(table))
    if outcome is None:
        return tables.standing(table, stamp)
    rows = None if wanted.is_view else tables.read(table, stamp)
    if rows is None or OUTCOME not in rows.columns:
        raise NotFound(f"the rows of {table} have no outcome; leave it out")
    return rows.where(F.col(OUTCOME) == outcome)


def _columns(frame: DataFrame, asked: Sequence[str], table: str) -> list[str]:
    if not asked:
        own = [name for name in frame.columns if not name.startswith("_")]
        return own or list(frame.columns)
    unknown = [name for name in asked if name not in frame.columns]
    if unknown:
        raise NotFound(f"{table} has no column {', '.join(unknown)}; it has: {', '.join(frame.columns)}")
    return list(asked)


def _text(frame: DataFrame, name: str) -> Column:
    """Return a value as a text; bytes that are no text in base 16."""
    kind = frame.schema[name].dataType
    value = named(name)
    if isinstance(kind, _INSIDE):
        return F.to_json(value, _JSON)
    if isinstance(kind, spark.BinaryType):
        return F.coalesce(F.try_validate_utf8(value.cast("string")), F.hex(value))
    return value.cast("string")
