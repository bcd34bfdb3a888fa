"""The read API: which rows of a publication a consumer gets for a query, read one row group at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from secrets import randbits
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.policy import EffectiveView, FindKey, KeyRing, effective_view
from treaty.registry.service.data_readers import DataReader
from treaty.serving.cursors import Cursor, CursorCodec, query_digest
from treaty.serving.published_table import PublishedSnapshot, PublishedTable
from treaty.serving.queries import CheckedQuery, Query, check_query
from treaty.serving.row_groups import ColumnCache, Place, RowGroupReader

MAX_LIMIT = 10_000
"""Rows of one page. More rows are asked for without a limit and are a stream."""


@dataclass(frozen=True)
class ServedPublication:
    """A publication that the read API serves: its table, the columns of its key, and those that have filters."""

    line: Line
    name: str
    table: PublishedTable
    key: tuple[str, ...]
    indexed: tuple[str, ...] = ()

    @property
    def filterable(self) -> tuple[str, ...]:
        """The columns that requests may filter on."""
        return tuple(dict.fromkeys((*self.key, *self.indexed)))


@dataclass(frozen=True)
class Reading:
    """Rows of a publication for one consumer: the schema first, then the rows in pieces."""

    snapshot: PublishedSnapshot
    query: CheckedQuery
    schema: pa.Schema
    tables: Iterator[pa.Table]
    next: str | None = None


@dataclass(frozen=True)
class _Piece:
    """Rows of one row group as the consumer may read them, and where the next ones begin."""

    rows: pa.Table
    place: Place
    offset: int


class DataService:
    """The publications that a server serves."""

    def __init__(
        self,
        publications: tuple[ServedPublication, ...],
        cursors: CursorCodec,
        find_key: FindKey,
        region: str | None = None,
    ) -> None:
        self._by_line = {publication.line: publication for publication in publications}
        self._cursors = cursors
        self._find_key = _available(find_key)
        self._region = region
        columns = ColumnCache()
        self._readers = {line: RowGroupReader(columns) for line in self._by_line}

    @property
    def publications(self) -> Mapping[Line, ServedPublication]:
        """The publications by line."""
        return self._by_line

    def publication(self, line: Line) -> ServedPublication:
        """Return a publication; raise NotFound for a line that this server does not serve."""
        found = self._by_line.get(line)
        if found is None:
            raise NotFound(f"this server does not serve {line}", "see what it serves with: GET /data")
        return found

    def view(self, reader: DataReader) -> EffectiveView:
        """Return what a consumer may read, in the region of this server."""
        effective = reader.effective
        return effective_view(effective.contract, reader.subscription, policies=effective.policies, region=self._region)

    def read(self, publication: ServedPublication, reader: DataReader, query: Query, now: datetime) -> Reading:
        """Return the rows that a query asks for: one page with a limit, otherwise all rows as a stream."""
        digest = query_digest([publication.line, reader.consumer, query.fields, query.filters, query.key, query.as_of])
        cursor = self._cursors.decode(query.cursor, digest, now) if query.cursor is not None else None
        table = publication.table
        snapshot = table.snapshot(query.as_of) if cursor is None else table.pinned(cursor.snapshot)
        schema = table.schema(snapshot)
        checked = check_query(query, self.view(reader), schema, publication.key, publication.filterable)
        shown = checked.mask(schema.empty_table(), self._find_key).schema
        start = cursor or Cursor(snapshot.id, 0, 0, 0, digest, randbits(32), now.isoformat())
        pieces = self._pieces(publication, snapshot, schema, checked, start)
        if query.limit is None:
            return Reading(snapshot, checked, shown, (self._mask(checked, piece.rows) for piece in pieces))
        return self._page(snapshot, checked, shown, pieces, start, query.limit)

    def _pieces(
        self,
        publication: ServedPublication,
        snapshot: PublishedSnapshot,
        schema: pa.Schema,
        checked: CheckedQuery,
        start: Cursor,
    ) -> Iterator[_Piece]:
        """Yield the rows that the consumer may read and asks for, from a cursor on."""
        table = publication.table
        needed = [name for name in checked.needed if name in schema.names]
        groups = self._readers[publication.line].read(
            table.loaded().table.io, table.files(snapshot), schema, needed, checked.conditions, start.place
        )
        for group in groups:
            rows = checked.visible(group.rows, self._find_key, start.started_at)
            if checked.is_shuffled:
                rows = rows.take(_order(rows.num_rows, start.seed, group.place))
            offset = start.offset if group.place == start.place else 0
            if offset < rows.num_rows:
                yield _Piece(rows.slice(offset), group.place, offset)

    def _page(
        self,
        snapshot: PublishedSnapshot,
        checked: CheckedQuery,
        shown: pa.Schema,
        pieces: Iterator[_Piece],
        start: Cursor,
        limit: int,
    ) -> Reading:
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidDocument(f"limit must be 1 to {MAX_LIMIT:,}, or all for a stream of all rows")
        tables, missing = [], limit
        following: str | None = None
        for piece in pieces:
            if missing == 0:
                following = self._cursors.encode(_moved(start, piece.place, piece.offset))
                break
            part = piece.rows.slice(0, missing)
            tables.append(self._mask(checked, part))
            missing -= part.num_rows
            if part.num_rows < piece.rows.num_rows:
                following = self._cursors.encode(_moved(start, piece.place, piece.offset + part.num_rows))
                break
        return Reading(snapshot, checked, shown, iter(tables), following)

    def _mask(self, checked: CheckedQuery, rows: pa.Table) -> pa.Table:
        return checked.mask(rows, self._find_key)


def _moved(start: Cursor, place: Place, offset: int) -> Cursor:
    return replace(start, file=place.file, group=place.group, offset=offset)


def _order(rows: int, seed: int, place: Place) -> np.ndarray[Any, Any]:
    """Return an order of rows that reveals nothing of the order in the table, and is the same for each page."""
    return np.random.default_rng((seed, place.file, place.group)).permutation(rows)


def _available(find_key: FindKey) -> FindKey:
    """Report a key that is not set as a fault of the server, not of the request."""

    def find(name: str) -> KeyRing:
        try:
            return find_key(name)
        except InvalidDocument as error:
            raise Unavailable(str(error)) from None

    return find
