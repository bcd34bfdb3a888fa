"""Some rows of a table for people: pinned to a stamp, with every value as a text that loses nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.tables.layout import OUTCOME
from treaty.pipeline.tables.snapshots import Stamp
from treaty.pipeline.tables.spark_errors import told_of
from treaty.pipeline.tables.table_store import Tables
from treaty.pipeline.tables.views import view_stamp, views_in
from treaty.spark.columns import quoted_col

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
        record = F.to_json(F.struct(*map(quoted_col, names)), _JSON)
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
    value = quoted_col(name)
    if isinstance(kind, _INSIDE):
        return F.to_json(value, _JSON)
    if isinstance(kind, spark.BinaryType):
        return F.coalesce(F.try_validate_utf8(value.cast("string")), F.hex(value))
    return value.cast("string")


PUBLICATIONS = "publications"
LAYERS = (PUBLICATIONS, "products", "reconciliation", "events", "raw")
"""Where a name is looked for, what consumers read first."""

_ASKED = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*)(?:@(?P<major>[0-9]{1,9}))?")
_PUBLISHED = re.compile(r"publications\.(?P<name>.+)_v(?P<major>[0-9]+)")
_SHOWN = 10


@dataclass(frozen=True)
class Wanted:
    """A table, and the MAJOR version of its contract that is meant, if that was said."""

    table: str
    major: int | None = None
    is_view: bool = False


def find_table(tables: Tables, asked: str) -> Wanted:
    """Return the table that is called orders, orders@1, products.orders, or by the id of its contract."""
    read = _ASKED.fullmatch(asked)
    if read is None:
        raise InvalidDocument(f"{asked!r} names no table; write it like orders, orders@1 or products.orders")
    views = views_in(tables.spark, tables.place, PUBLICATIONS)
    there = [*views, *(table for layer in LAYERS for table in tables.listed(layer))]
    major = int(read["major"]) if read["major"] else None
    found = read["name"] if read["name"] in there else _called(read["name"].rpartition(".")[2], major, there)
    if found is None:
        raise NotFound(f"there is nothing called {asked}; {_offered(asked, there)}")
    return Wanted(found, None if _PUBLISHED.fullmatch(found) else major, found in views)


def stamp_as_of(wanted: Wanted, stamps: Sequence[Stamp], as_of: str | None) -> Stamp:
    """Return the stamp of a run, the last one at a moment, or the newest; stamps come newest first."""
    if not stamps:
        raise NotFound(f"nothing was published in {wanted.table} yet; start with treaty run")
    meant = [stamp for stamp in stamps if wanted.major in (None, _major(stamp))]
    if not meant:
        known = ", ".join(dict.fromkeys(stamp.contract for stamp in stamps))
        raise NotFound(f"{wanted.table} was never published under version {wanted.major}; it was under: {known}")
    if as_of is None:
        return meant[0]
    if as_of.isdecimal():
        found = next((stamp for stamp in meant if stamp.run == int(as_of)), None)
        what = f"run {as_of} published nothing in {wanted.table}"
    else:
        moment = _moment(as_of)
        found = next((stamp for stamp in meant if stamp.committed_at <= moment), None)
        what = f"nothing was published in {wanted.table} by {moment:%Y-%m-%d %H:%M:%S} UTC"
    if found is None:
        runs = ", ".join(f"{stamp.run} ({stamp.committed_at:%Y-%m-%d %H:%M})" for stamp in meant[:_SHOWN])
        more = f" and {len(meant) - _SHOWN:,} before" if len(meant) > _SHOWN else ""
        raise NotFound(f"{what}; its runs are: {runs}{more}")
    return found


def _called(name: str, major: int | None, there: Sequence[str]) -> str | None:
    """Return the table of a name: that line of a publication, else its highest, else what else is called so."""
    lines = {
        int(read["major"]): table for table in there if (read := _PUBLISHED.fullmatch(table)) and read["name"] == name
    }
    if lines and (major is None or major in lines):
        return lines[max(lines) if major is None else major]
    return next((table for table in there if table.partition(".")[2] == name), None)


def _offered(asked: str, there: Sequence[str]) -> str:
    names = list(dict.fromkeys(_short(table) for table in there))
    if not names:
        return "no table was made yet: start with treaty run"
    close = get_close_matches(asked, names, n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    return f"{meant}there are: {', '.join(names)}"


def _short(table: str) -> str:
    """Return what a person would type for a table."""
    read = _PUBLISHED.fullmatch(table)
    return f"{read['name']}@{read['major']}" if read else table.partition(".")[2]


def _major(stamp: Stamp) -> int | None:
    version = stamp.contract.rpartition(" ")[2].partition(".")[0]
    return int(version) if version.isdecimal() else None


def _moment(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidDocument(
            f"{text!r} is neither the number of a run nor a time; write a time like 2026-12-31T08:00Z"
        ) from None
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
