"""Rows of a table for people (`treaty read`): find the table and the snapshot, and return values as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.tables.ddl import view_stamp, views_in
from treaty.pipeline.tables.layout import OUTCOME
from treaty.pipeline.tables.snapshots import Stamp
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.table_store import Tables
from treaty.spark.columns import quoted_col

_JSON = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": "false"}
_NESTED = (spark.StructType, spark.ArrayType, spark.MapType)


@dataclass(frozen=True)
class ReadRequest:
    """Which rows of which table to read."""

    name: str
    as_of: str | None = None
    columns: tuple[str, ...] = ()
    """Empty: the columns of the contract."""
    outcome: str | None = None
    """None: the rows that later steps read."""
    limit: int = 20


@dataclass(frozen=True)
class TableRows:
    """Rows of a table at a stamp."""

    table: str
    stamp: Stamp
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    records: tuple[str, ...]
    """The same rows as JSON objects."""
    is_complete: bool


def read_table(tables: Tables, request: ReadRequest) -> TableRows:
    """Read the requested rows, each value as a text that loses nothing."""
    reference = find_table(tables, request.name)
    stamp = stamp_as_of(reference, _stamps(tables, reference), request.as_of)
    frame = _rows(tables, reference, stamp, request.outcome)
    with translate_errors(reference.table):
        names = _columns(frame, request.columns, reference.table)
        record = F.to_json(F.struct(*map(quoted_col, names)), _JSON)
        texts = [_text(frame, name).alias(f"c{position}") for position, name in enumerate(names)]
        rows = frame.select(record.alias("record"), *texts).limit(request.limit + 1).collect()
    page = rows[: request.limit]
    return TableRows(
        reference.table,
        stamp,
        tuple(names),
        tuple(tuple(row)[1:] for row in page),
        tuple(row["record"] for row in page),
        len(rows) <= request.limit,
    )


def _stamps(tables: Tables, reference: TableReference) -> tuple[Stamp, ...]:
    """Return the published stamps; of a view there is only the last one, since each run replaces it."""
    if not reference.is_view:
        return tables.stamps(reference.table)
    stamp = view_stamp(tables.spark, tables.namespace, reference.table)
    return () if stamp is None else (stamp,)


def _rows(tables: Tables, reference: TableReference, stamp: Stamp, outcome: str | None) -> DataFrame:
    table = reference.table
    if reference.is_view and outcome is None:
        with translate_errors(table):
            return tables.spark.table(tables.namespace.full_name(table))
    if outcome is None:
        return tables.current_rows(table, stamp)
    rows = None if reference.is_view else tables.read(table, stamp)
    if rows is None or OUTCOME not in rows.columns:
        raise NotFound(f"the rows of {table} have no outcome; leave out --outcome")
    return rows.where(F.col(OUTCOME) == outcome)


def _columns(frame: DataFrame, requested: Sequence[str], table: str) -> list[str]:
    if not requested:
        own = [name for name in frame.columns if not name.startswith("_")]
        return own or list(frame.columns)
    unknown = [name for name in requested if name not in frame.columns]
    if unknown:
        raise NotFound(f"{table} has no column {', '.join(unknown)}; it has: {', '.join(frame.columns)}")
    return list(requested)


def _text(frame: DataFrame, name: str) -> Column:
    """Return a value as text; bytes that are not UTF-8 as hexadecimal digits."""
    kind = frame.schema[name].dataType
    value = quoted_col(name)
    if isinstance(kind, _NESTED):
        return F.to_json(value, _JSON)
    if isinstance(kind, spark.BinaryType):
        return F.coalesce(F.try_validate_utf8(value.cast("string")), F.hex(value))
    return value.cast("string")


PUBLICATIONS = "publications"
LAYERS = (PUBLICATIONS, "products", "reconciliation", "events", "raw")
"""The layers in which a name is looked up, in this order."""

_TABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_PUBLISHED = re.compile(r"publications\.(?P<name>.+)_v(?P<major>[0-9]+)")
MAX_LISTED_RUNS = 10


@dataclass(frozen=True)
class TableReference:
    """A table, and the MAJOR version of its contract if the user gave one."""

    table: str
    major: int | None = None
    is_view: bool = False


def find_table(tables: Tables, name: str) -> TableReference:
    """Return the table for a name such as `orders`, `orders@1` or `products.orders`, or for the id of a contract."""
    short_name, major = _split_name(name)
    views = views_in(tables.spark, tables.namespace, PUBLICATIONS)
    available = [*views, *(table for layer in LAYERS for table in tables.list_tables(layer))]
    table: str | None = short_name
    if table not in available:
        table = _find_by_short_name(short_name.rpartition(".")[2], major, available)
    if table is None:
        raise NotFound(f"there is no table {name}; {_suggestion(name, available)}")
    return TableReference(table, None if _published_line(table) else major, table in views)


def _split_name(name: str) -> tuple[str, int | None]:
    """Return the table and the MAJOR of a name such as `orders` or `orders@1`."""
    try:
        line = parse_line(name) if "@" in name else Line(name, 0)
    except InvalidDocument:
        line = None
    if line is None or not _TABLE_NAME.fullmatch(line.contract):
        raise InvalidDocument(f"{name!r} is not a table name; write it like orders, orders@1 or products.orders")
    return line.contract, line.major if "@" in name else None


def _published_line(table: str) -> Line | None:
    """Return the line that a table of a publication is named after."""
    match = _PUBLISHED.fullmatch(table)
    return Line(match["name"], int(match["major"])) if match else None


def stamp_as_of(reference: TableReference, stamps: Sequence[Stamp], as_of: str | None) -> Stamp:
    """Return the stamp of a run, the last one before a time, or the newest; `stamps` are newest first."""
    if not stamps:
        raise NotFound(f"nothing was published in {reference.table} yet; start with: treaty run")
    matching = [stamp for stamp in stamps if reference.major in (None, _major(stamp))]
    if not matching:
        known = ", ".join(dict.fromkeys(stamp.contract for stamp in stamps))
        raise NotFound(f"{reference.table} was never published under version {reference.major}, only under: {known}")
    if as_of is None:
        return matching[0]
    if as_of.isdecimal():
        selected = next((stamp for stamp in matching if stamp.run == int(as_of)), None)
        what = f"run {as_of} published nothing in {reference.table}"
    else:
        time = _parse_time(as_of)
        selected = next((stamp for stamp in matching if stamp.committed_at <= time), None)
        what = f"nothing was published in {reference.table} by {time:%Y-%m-%d %H:%M:%S} UTC"
    if selected is None:
        runs = ", ".join(f"{stamp.run} ({stamp.committed_at:%Y-%m-%d %H:%M})" for stamp in matching[:MAX_LISTED_RUNS])
        more = f" and {len(matching) - MAX_LISTED_RUNS:,} earlier" if len(matching) > MAX_LISTED_RUNS else ""
        raise NotFound(f"{what}; its runs are: {runs}{more}")
    return selected


def _find_by_short_name(name: str, major: int | None, available: Sequence[str]) -> str | None:
    """Return the given line of a publication, else its highest line, else another table of that name."""
    lines = {line.major: table for table in available if (line := _published_line(table)) and line.contract == name}
    if lines and (major is None or major in lines):
        return lines[max(lines) if major is None else major]
    return next((table for table in available if table.partition(".")[2] == name), None)


def _suggestion(name: str, available: Sequence[str]) -> str:
    names = list(dict.fromkeys(_short(table) for table in available))
    if not names:
        return "there are no tables yet: start with treaty run"
    close = get_close_matches(name, names, n=1)
    suggestion = f"did you mean {close[0]}? " if close else ""
    return f"{suggestion}there are: {', '.join(names)}"


def _short(table: str) -> str:
    """Return the short name of a table, as a user would type it."""
    line = _published_line(table)
    return str(line) if line else table.partition(".")[2]


def _major(stamp: Stamp) -> int | None:
    version = stamp.contract.rpartition(" ")[2].partition(".")[0]
    return int(version) if version.isdecimal() else None


def _parse_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidDocument(
            f"{text!r} is neither a run number nor a time; write a time like 2026-12-31T08:00Z"
        ) from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
