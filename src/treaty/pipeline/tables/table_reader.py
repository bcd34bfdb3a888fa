"""Rows of a table for people (`treaty read`): find the table and the snapshot, and return values as text.

Tables are read through PyIceberg, without Spark; a view is computed by Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.tables.ddl import view_stamp, views_in
from treaty.pipeline.tables.history_limits import HistoryLimit, read_history_limit
from treaty.pipeline.tables.layout import ARRIVALS, ARRIVALS_LEDGER, CURRENT_OUTCOMES, FILE_OUTCOMES, OUTCOME, OUTCOMES
from treaty.pipeline.tables.row_texts import record_json, value_text
from treaty.pipeline.tables.snapshots import Stamp
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.table_catalog import TableCatalog
from treaty.pipeline.tables.table_store import Tables
from treaty.pipeline.tables.view_states import ViewState, view_states
from treaty.spark.columns import quoted_col
from treaty.suggestions import choose, did_you_mean

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


SparkTables = Callable[[], AbstractContextManager[Tables]]
"""Opens the tables on Spark, which is started only for a view."""


def read_table(catalog: TableCatalog, request: ReadRequest, open_on_spark: SparkTables) -> TableRows:
    """Read the requested rows, each value as a text that loses nothing. Only the rows of a view need Spark."""
    states = view_states(catalog)
    reference = find_table(catalog, tuple(states), request.name)
    if reference.is_view:
        return _read_view(reference, states[reference.table], request, open_on_spark)
    state = catalog.load(reference.table)
    limit = read_history_limit(state.properties) if state else None
    stamp = stamp_as_of(reference, catalog.stamps(reference.table), request.as_of, limit)
    schema = state.columns if state else spark.StructType()
    where = _ledger_filter(reference, request) if reference.is_ledger else _outcome_filter(schema, reference, request)
    visible = [name for name in schema.names if not (reference.source and name == "source")]
    columns = spark.StructType([schema[name] for name in _columns(visible, request.columns, reference.table)])
    rows = _stored_rows(catalog, reference, stamp, columns.names, where, request.limit + 1)
    page = rows[: request.limit]
    return TableRows(
        request.name if reference.is_ledger else reference.table,
        stamp,
        tuple(columns.names),
        tuple(tuple(value_text(row[field.name], field.dataType) for field in columns) for row in page),
        tuple(record_json(row, columns) for row in page),
        len(rows) <= request.limit,
    )


def _stored_rows(
    catalog: TableCatalog,
    reference: TableReference,
    stamp: Stamp,
    columns: Sequence[str],
    where: Mapping[str, tuple[str, ...]],
    limit: int,
) -> list[dict[str, Any]]:
    """Return rows of a state; a column that was added later is null. Entries of the ledger are sorted, newest first."""
    table = reference.table
    if reference.is_ledger:
        rows = catalog.read_rows(table, snapshot=stamp.snapshot, where=where)
        return sorted(sorted(rows, key=lambda row: row["file"]), key=lambda row: row["run"], reverse=True)[:limit]
    known = set(catalog.columns(table, stamp.snapshot).names)
    stored = [name for name in columns if name in known]
    rows = catalog.read_rows(table, limit, stored or list(known)[:1], stamp.snapshot, where)
    return [{name: row.get(name) for name in columns} for row in rows]


def _ledger_filter(reference: TableReference, request: ReadRequest) -> dict[str, tuple[str, ...]]:
    """Return the filter on entries of the ledger of arrivals: of one source or of all, with one outcome or any."""
    _check_outcome(request.outcome, FILE_OUTCOMES)
    given = {"source": reference.source, "outcome": request.outcome}
    return {name: (value,) for name, value in given.items() if value is not None}


def _check_outcome(outcome: str | None, known: Sequence[str]) -> None:
    if outcome is not None and outcome not in known:
        raise NotFound(f"there is no outcome {outcome!r}; {choose(outcome, known)}")


def _outcome_filter(
    schema: spark.StructType, reference: TableReference, request: ReadRequest
) -> dict[str, tuple[str, ...]]:
    if OUTCOME in schema.names:
        _check_outcome(request.outcome, OUTCOMES)
        return {OUTCOME: CURRENT_OUTCOMES if request.outcome is None else (request.outcome,)}
    if request.outcome is not None:
        raise NotFound(f"the rows of {reference.table} have no outcome; leave out --outcome")
    return {}


def _read_view(
    reference: TableReference, states: Sequence[ViewState], request: ReadRequest, open_on_spark: SparkTables
) -> TableRows:
    """Compute the rows of a view as a run left it: its query names the snapshots of its inputs."""
    stamp = stamp_as_of(reference, [state.stamp for state in states], request.as_of)
    if request.outcome is not None:
        raise NotFound(f"the rows of {reference.table} have no outcome; leave out --outcome")
    query = next(state.query for state in states if state.stamp == stamp)
    with open_on_spark() as tables, translate_errors(reference.table):
        frame = tables.spark.sql(query)
        names = _columns(frame.columns, request.columns, reference.table)
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


def published_rows(tables: Tables, table: str) -> tuple[Stamp, DataFrame]:
    """Return the newest published rows of a table or view that later steps read, and their stamp."""
    try:
        reference = find_table(tables.catalog, views_in(tables.spark, tables.namespace, PUBLICATIONS), table)
    except NotFound:
        reference = None
    if reference is None or reference.table != table:
        raise NotFound(f"nothing was published in {table} yet; start with: treaty run")
    stamp = stamp_as_of(reference, _stamps(tables, reference), None)
    return stamp, _rows(tables, reference, stamp)


def _stamps(tables: Tables, reference: TableReference) -> tuple[Stamp, ...]:
    if not reference.is_view:
        return tables.stamps(reference.table)
    stamp = view_stamp(tables.spark, tables.namespace, reference.table)
    return () if stamp is None else (stamp,)


def _rows(tables: Tables, reference: TableReference, stamp: Stamp) -> DataFrame:
    if not reference.is_view:
        return tables.current_rows(reference.table, stamp)
    with translate_errors(reference.table):
        return tables.spark.table(tables.namespace.full_name(reference.table))


def _columns(available: Sequence[str], requested: Sequence[str], table: str) -> list[str]:
    if not requested:
        own = [name for name in available if not name.startswith("_")]
        return own or list(available)
    unknown = [name for name in requested if name not in available]
    if unknown:
        raise NotFound(f"{table} has no column {', '.join(unknown)}; it has: {', '.join(available)}")
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
    is_ledger: bool = False
    source: str | None = None
    """The source whose entries of the ledger are read; None: all entries."""


def find_table(catalog: TableCatalog, views: Collection[str], name: str) -> TableReference:
    """Return the table for a name such as `orders`, `orders@1` or `products.orders`, or for the id of a contract."""
    short_name, major = _split_name(name)
    layer, _, source = short_name.partition(".")
    if layer == ARRIVALS:
        return TableReference(ARRIVALS_LEDGER, is_ledger=True, source=source or None)
    available = [*views, *(table for layer in LAYERS for table in catalog.list_tables(layer))]
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


def stamp_as_of(
    reference: TableReference, stamps: Sequence[Stamp], as_of: str | None, limit: HistoryLimit | None = None
) -> Stamp:
    """Return the stamp of a run, the last one before a time, or the newest; `stamps` are newest first.

    `limit` says why older states are gone, if they are.
    """
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
    if selected is None and limit is not None:
        oldest = stamps[-1]
        raise NotFound(
            f"{what} that is kept: the oldest state of {reference.table} that is kept is of run {oldest.run} "
            f"({limit.since:%Y-%m-%d %H:%M:%S} UTC); {limit.reason}"
        )
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
    return " ".join(filter(None, (did_you_mean(name, names), f"there are: {', '.join(names)}")))


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
