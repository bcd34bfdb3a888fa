"""Query logs: exports of warehouses as CSV, JSON or JSON lines, one query in each row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

from treaty.legacy.consumer_guess import guess_class
from treaty.legacy.scanned_reads import ScannedRead, ScanProblem
from treaty.legacy.sql_reads import find_sql_reads

MAX_QUERIES = 100_000

_QUERY_COLUMNS = ("query_text", "query", "sql", "statement", "sql_text", "querytext")
_READER_COLUMNS = (
    "application",
    "service",
    "job",
    "user_name",
    "usename",
    "user_email",
    "principal",
    "user",
    "username",
)
_TEAM_COLUMNS = ("team", "role_name", "warehouse_name", "project_id")
_TIME_COLUMNS = ("start_time", "started_at", "starttime", "creation_time", "query_start", "time", "timestamp")
"""Columns of the exports of common warehouses, in lower case; the first that has a value counts."""


def scan_query_log(path: str, text: str) -> Iterator[ScannedRead | ScanProblem]:
    """Yield what the users of a query log read. A file without a column of queries is no query log and left out."""
    try:
        rows = _rows(path, text)
    except (ValueError, csv.Error, RecursionError) as error:
        if path.lower().endswith(".json"):
            return  # some other JSON file
        yield ScanProblem(path, f"it is not a table of queries: {error}")
        return
    if not rows or not any(name in rows[0] for name in _QUERY_COLUMNS):
        return
    if len(rows) > MAX_QUERIES:
        yield ScanProblem(path, f"it has {len(rows):,} queries; only the first {MAX_QUERIES:,} were read")
    unreadable = 0
    times: dict[str, list[datetime]] = {}
    found: dict[tuple[str, str], ScannedRead] = {}
    for number, row in enumerate(rows[:MAX_QUERIES], 1):
        query, reader = _first(row, _QUERY_COLUMNS), _first(row, _READER_COLUMNS)
        if not query or not reader:
            continue
        sql = find_sql_reads(query)
        if sql is None:
            unreadable += 1
            continue
        if sql.reads and (time := _time(_first(row, _TIME_COLUMNS))) is not None:
            times.setdefault(reader, []).append(time)
        for table, columns in sql.reads.items():
            before = found.get((reader, table))
            found[reader, table] = ScannedRead(
                reader,
                table,
                columns if before is None else before.columns | columns,
                "query log",
                guess_class(reader, "query log"),
                _first(row, _TEAM_COLUMNS),
                None,
                None,
                (f"{path}, row {number}",) if before is None else before.places,
                sql.parsed.get(table, frozenset()) | (frozenset() if before is None else before.parsed),
            )
    for (reader, _), read in found.items():
        yield _with_latency(read, times.get(reader, ()))
    if unreadable:
        yield ScanProblem(path, f"{unreadable:,} of its queries could not be read in any known dialect")


def _with_latency(read: ScannedRead, times: Sequence[datetime]) -> ScannedRead:
    """Return a read with the median time between the queries of its reader, rounded down to a usual period."""
    moments = sorted(set(times))
    if len(moments) < 3:
        return read
    gap = median((after - before).total_seconds() for before, after in pairwise(moments))
    latency = "1m" if gap < 3_600 else "1h" if gap < 43_200 else "1d" if gap < 3 * 86_400 else "7d"
    return replace(read, latency=latency)


def _rows(path: str, text: str) -> list[dict[str, Any]]:
    lower = path.lower()
    if lower.endswith(".csv"):
        reader = csv.DictReader(io.StringIO(text, newline=""))
        return [_lower_keys(row) for row in reader]
    if lower.endswith(".jsonl"):
        return _objects(json.loads(line) for line in text.splitlines() if line.strip())
    data = json.loads(text)
    return _objects(data if isinstance(data, list) else [])


def _objects(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [_lower_keys(value) for value in values if isinstance(value, dict)]


def _lower_keys(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): value for key, value in row.items() if key is not None}


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((str(row[name]).strip() for name in names if row.get(name)), None)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    offset = time.utcoffset() or timedelta()
    return time.replace(tzinfo=None) - offset
