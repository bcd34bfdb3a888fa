"""Rows as JSON, CSV, Arrow IPC and Parquet, written piece by piece."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as pa_csv  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

JSON = "application/json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"

Pieces = Iterator[bytes]
Tables = Iterable[pa.Table]


@dataclass(frozen=True)
class Envelope:
    """What a JSON answer has beside its rows: contract, version, run, snapshot, and the cursor of the next page."""

    facts: Mapping[str, Any]
    next: str | None = None


class _Sink:
    """A file that forgets what was taken from it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self.closed = False

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """Keep what was written until it is taken."""

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def write_json(schema: pa.Schema, tables: Tables, envelope: Envelope) -> Pieces:
    """Yield an object with the rows in `items`."""
    head = json.dumps(dict(envelope.facts), ensure_ascii=False)
    yield (head[:-1] + (", " if envelope.facts else "") + '"items": [').encode()
    separator = b""
    for table in tables:
        for batch in table.to_batches(max_chunksize=_JSON_ROWS):
            rows = batch.to_pylist(maps_as_pydicts="strict")
            if rows:
                yield separator + b",\n".join(row_as_json(row) for row in rows)
                separator = b",\n"
    yield b'], "next": ' + json.dumps(envelope.next).encode() + b"}\n"


_JSON_ROWS = 1_000


def row_as_json(row: Mapping[str, Any]) -> bytes:
    """Return one row as JSON."""
    try:
        return json.dumps(row, default=plain_value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # NaN and infinity, which JSON does not have
        return json.dumps(_without_nan(row), default=plain_value, ensure_ascii=False).encode()


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it: decimals and times as text, bytes in Base64."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value.isoformat()
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: _without_nan(inner) for name, inner in value.items()}
    return [_without_nan(inner) for inner in value] if isinstance(value, list) else value


def write_csv(schema: pa.Schema, tables: Tables, _: Envelope) -> Pieces:
    """Yield CSV with a header; nested values are JSON."""
    flat = pa.schema([pa.field(field.name, _flat_type(field.type)) for field in schema])
    sink = _Sink()
    with pa_csv.CSVWriter(sink, flat) as writer:
        yield sink.take()
        for table in tables:
            columns = [_flat_column(table[field.name], flat.field(field.name).type) for field in schema]
            writer.write_table(pa.table(columns, schema=flat))
            yield sink.take()
    yield sink.take()


def _flat_type(kind: pa.DataType) -> pa.DataType:
    is_plain = pa.types.is_primitive(kind) or pa.types.is_string(kind) or pa.types.is_null(kind)
    return kind if is_plain and not pa.types.is_timestamp(kind) else pa.string()


def _flat_column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    values = column.to_pylist(maps_as_pydicts="strict")
    return pa.chunked_array([pa.array([_flat_text(value) for value in values], pa.string())])


def _flat_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping | list):
        return row_as_json(value).decode()  # type: ignore[arg-type]
    return str(plain_value(value))


def write_arrow(schema: pa.Schema, tables: Tables, envelope: Envelope) -> Pieces:
    """Yield a stream of Arrow IPC; its schema has the facts as metadata."""
    sink = _Sink()
    with pa.ipc.new_stream(sink, _described(schema, envelope)) as writer:
        for table in tables:
            writer.write_table(table)
            yield sink.take()
    yield sink.take()


def write_parquet(schema: pa.Schema, tables: Tables, envelope: Envelope) -> Pieces:
    """Yield a Parquet file, one row group for each piece."""
    sink = _Sink()
    described = _described(schema, envelope)
    with pq.ParquetWriter(sink, described) as writer:
        for table in tables:
            writer.write_table(table.cast(described))
            yield sink.take()
    yield sink.take()


def _described(schema: pa.Schema, envelope: Envelope) -> pa.Schema:
    return schema.with_metadata({f"treaty.{name}": str(value) for name, value in envelope.facts.items()})


Writer = Callable[[pa.Schema, Tables, Envelope], Pieces]
WRITERS: dict[str, Writer] = {JSON: write_json, CSV: write_csv, ARROW: write_arrow, PARQUET: write_parquet}
"""How rows are written, by media type."""
