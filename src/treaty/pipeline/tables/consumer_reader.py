"""Rows of a publication as one consumer may read them (`treaty read --for`, `treaty.spark.read`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark

from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.pipeline.tables.row_texts import record_json, value_text
from treaty.pipeline.tables.snapshots import Stamp
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.table_catalog import TableCatalog
from treaty.pipeline.tables.table_reader import ReadRequest, SparkTables, TableRows, find_table, stamp_as_of
from treaty.pipeline.tables.view_states import view_states
from treaty.policy import EffectiveView, FindKey
from treaty.policy.masked_parts import columns_of
from treaty.registry.model import AccessReport
from treaty.spark.columns import quoted_col
from treaty.spark.masks import apply_view, masked_type

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame, SparkSession

    from treaty.pipeline.tables.table_store import Tables

_PUBLICATIONS = "publications."
FindView = Callable[[str, str], EffectiveView]
"""Returns what the consumer may read of a contract in a version."""


@dataclass(frozen=True)
class ConsumerRequest:
    """Which rows to read, and how to find what the consumer may read of them."""

    read: ReadRequest
    find_view: FindView
    find_key: FindKey
    now: datetime


@dataclass(frozen=True)
class ConsumerRows:
    """Rows that a consumer may read, and the entry of the access log about them."""

    rows: TableRows
    access: AccessReport


def read_for_consumer(catalog: TableCatalog, request: ConsumerRequest, open_on_spark: SparkTables) -> ConsumerRows:
    """Read rows of a publication: declared fields, masked, and only rows that may be served."""
    publication = _find_publication(catalog, request)
    table, stamp, view = publication.table, publication.stamp, publication.view
    stored = None if publication.query is not None else catalog.columns(table, stamp.snapshot)
    names = [one for one in _served_names(view, request.read) if stored is None or one in stored.names]
    if stored is None:
        with open_on_spark() as tables, translate_errors(table):
            frame = _view_frame(tables.spark, publication, request).select(*map(quoted_col, names))
            kinds = frame.schema
            rows = frame.limit(request.read.limit + 1).toArrow()
    else:
        kinds = _types(stored, view, names)
        rows = _stored_rows(catalog, table, stamp, view, request).select(names)
    found = _as_rows(table, stamp, kinds, rows, request.read.limit)
    return ConsumerRows(found, _access(publication, names, len(found.rows)))


def _access(publication: _ReadPublication, names: list[str], count: int | None) -> AccessReport:
    contract, _, version = publication.stamp.contract.rpartition(" ")
    return AccessReport(
        line=str(Line(contract, int(version.partition(".")[0]))),
        consumer=publication.view.consumer,
        version=version,
        fields=tuple(names),
        rows=count,
        run=publication.stamp.run,
    )


@dataclass(frozen=True)
class ConsumerFrame:
    """Rows that a consumer may read, and the entry of the access log about them."""

    rows: DataFrame
    access: AccessReport


def consumer_frame(tables: Tables, request: ConsumerRequest) -> ConsumerFrame:
    """Return the rows of a publication that a consumer may read as a DataFrame, as of one published state."""
    publication = _find_publication(tables.catalog, request)
    if publication.query is not None:
        with translate_errors(publication.table):
            frame = _view_frame(tables.spark, publication, request)
    else:
        rows = tables.read(publication.table, publication.stamp)
        frame = apply_view(rows, publication.view, request.find_key, request.now)
    names = [name for name in _served_names(publication.view, request.read) if name in frame.columns]
    return ConsumerFrame(frame.select(*map(quoted_col, names)), _access(publication, names, None))


@dataclass(frozen=True)
class _ReadPublication:
    """A published state, what the consumer may read of it, and its query if it is a view."""

    table: str
    stamp: Stamp
    view: EffectiveView
    query: str | None


def _find_publication(catalog: TableCatalog, request: ConsumerRequest) -> _ReadPublication:
    states = view_states(catalog)
    reference = find_table(catalog, tuple(states), request.read.name)
    if reference.is_ledger or not reference.table.startswith(_PUBLICATIONS):
        raise InvalidDocument(f"{request.read.name} is not a publication; consumers read publications only")
    stamps = [one.stamp for one in states[reference.table]] if reference.is_view else catalog.stamps(reference.table)
    stamp = stamp_as_of(reference, stamps, request.read.as_of)
    query = None
    if reference.is_view:
        query = next(state.query for state in states[reference.table] if state.stamp == stamp)
    return _ReadPublication(reference.table, stamp, _view_of(stamp, request), query)


def _view_frame(session: SparkSession, publication: _ReadPublication, request: ConsumerRequest) -> DataFrame:
    rows = session.sql(publication.query or "")
    return apply_view(rows, publication.view, request.find_key, request.now)


def _view_of(stamp: Stamp, request: ConsumerRequest) -> EffectiveView:
    contract, _, version = stamp.contract.rpartition(" ")
    view = request.find_view(contract, version)
    if view.refusal is not None:
        raise NotAllowed(f"{view.consumer} may not read {contract}: {view.refusal}")
    return view


def _served_names(view: EffectiveView, request: ReadRequest) -> list[str]:
    served = list(columns_of(view))
    unknown = [name for name in request.columns if name not in served]
    if unknown:
        raise NotFound(
            f"{view.consumer} has no column {', '.join(unknown)}; it has: {', '.join(served)}",
            f"explain: treaty show {view.contract} --for {view.consumer}",
        )
    return list(request.columns) or served


def _stored_rows(
    catalog: TableCatalog, table: str, stamp: Stamp, view: EffectiveView, request: ConsumerRequest
) -> pyarrow.Table:
    from treaty.policy import arrow_views

    stored = set(catalog.columns(table, stamp.snapshot).names)
    needed = [name for name in dict.fromkeys((*columns_of(view), *view.row_columns)) if name in stored]
    limit = None if view.row_columns else request.read.limit + 1
    rows = catalog.read_arrow(table, limit, needed, stamp.snapshot)
    return arrow_views.apply_view(rows, view, request.find_key, request.now).slice(0, request.read.limit + 1)


def _types(stored: spark.StructType, view: EffectiveView, names: list[str]) -> spark.StructType:
    parts = columns_of(view)
    return spark.StructType([spark.StructField(one, masked_type(stored[one].dataType, parts[one])) for one in names])


def _as_rows(table: str, stamp: Stamp, kinds: spark.StructType, rows: Any, limit: int) -> TableRows:
    listed: list[dict[str, Any]] = rows.to_pylist(maps_as_pydicts="strict")
    page = listed[:limit]
    return TableRows(
        table,
        stamp,
        tuple(kinds.names),
        tuple(tuple(value_text(row[field.name], field.dataType) for field in kinds) for row in page),
        tuple(record_json(row, kinds) for row in page),
        len(listed) <= limit,
    )
