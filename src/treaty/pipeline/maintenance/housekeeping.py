"""Housekeeping of tables: expire old snapshots, remove files that none needs, and compact small files.

A run does it for the tables that it changed and that are due, a few at a time, so that a small run stays small.
`treaty maintain` does it for all tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from treaty.errors import TreatyError
from treaty.pipeline.maintenance.retention import UNFINISHED_AGE, Retention, expired_snapshots, oldest_stamp
from treaty.pipeline.tables import Tables
from treaty.pipeline.tables.history_limits import history_limit
from treaty.pipeline.tables.layout import FileStats, file_stats_of
from treaty.pipeline.tables.table_files import Removal, RemovedFiles, remove_snapshots

RunsByTable: TypeAlias = Mapping[str, Collection[int]]
EXPIRY_BATCH = 20
"""A run expires the snapshots of a table once so many of them can go: each time costs the same, for one or for many."""
MIN_TABLES_PER_RUN = 3
TABLES_SHARE_PER_RUN = 0.1
"""A run treats at most this share of the tables that it changed, but always the minimum number."""


@dataclass(frozen=True)
class TableUpkeep:
    """What a table needs, or what was done to it."""

    table: str
    removed: RemovedFiles = field(default_factory=RemovedFiles)
    is_compacted: bool = False
    data_files: int = 0
    """Number of data and delete files before."""
    kept_since: datetime | None = None
    """The time of the oldest state that is kept."""
    problem: str | None = None
    """Why the table was left as it was."""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "table": self.table,
            "snapshots_expired": self.removed.snapshots,
            "files_removed": self.removed.files,
            "bytes_removed": self.removed.bytes,
            "compacted": self.is_compacted,
            "data_files_before": self.data_files,
            "kept_since": self.kept_since.isoformat() if self.kept_since else None,
            "problem": self.problem,
        }


@dataclass(frozen=True)
class Upkeep:
    """The housekeeping of one run or command."""

    tables: tuple[TableUpkeep, ...] = ()
    seconds: float = 0.0
    postponed: int = 0
    """Number of tables that are due, and left to the next run."""
    is_dry_run: bool = False

    @property
    def removed(self) -> RemovedFiles:
        """What was removed from all tables."""
        return sum((table.removed for table in self.tables), RemovedFiles())

    @property
    def compacted(self) -> tuple[str, ...]:
        """The tables that were compacted."""
        return tuple(table.table for table in self.tables if table.is_compacted)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why tables were left as they were."""
        return tuple(table.problem for table in self.tables if table.problem)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        removed = self.removed
        return {
            "dry_run": self.is_dry_run,
            "snapshots_expired": removed.snapshots,
            "files_removed": removed.files,
            "bytes_removed": removed.bytes,
            "compacted": list(self.compacted),
            "postponed": self.postponed,
            "seconds": round(self.seconds, 3),
            "tables": [table.as_data() for table in self.tables],
        }


@dataclass(frozen=True)
class _Due:
    """A table that needs housekeeping."""

    table: str
    expired: tuple[int, ...]
    stats: FileStats
    kept_since: datetime | None

    @property
    def is_due(self) -> bool:
        """Whether a run should treat it."""
        return len(self.expired) >= EXPIRY_BATCH or self.stats.needs_compaction


def maintain_changed(
    tables: Tables,
    changed: Collection[str],
    retention: Retention,
    now: datetime,
    needed: Callable[[], RunsByTable] = dict,
) -> Upkeep:
    """Maintain the tables that a run changed, if they are due; a problem is reported and does not fail the run.

    `needed` returns the runs that views read; it is called only if a table is due.
    """
    started = time.monotonic()
    due = [entry for entry in _inspect(tables, changed, retention, now, {}) if entry.is_due]
    if due:
        due = _inspect(tables, [entry.table for entry in due], retention, now, needed())
        due = [entry for entry in due if entry.is_due]
    due.sort(key=lambda entry: (-len(entry.expired), entry.table))
    limit = max(MIN_TABLES_PER_RUN, round(len(changed) * TABLES_SHARE_PER_RUN))
    done = tuple(_maintain(tables, entry, retention, now) for entry in due[:limit])
    return Upkeep(done, time.monotonic() - started, max(0, len(due) - limit))


def maintain_all(
    tables: Tables,
    names: Sequence[str],
    retention: Retention,
    now: datetime,
    needed: RunsByTable | None = None,
    *,
    dry_run: bool = False,
) -> Upkeep:
    """Maintain the named tables, due or not, and remove files that interrupted runs left behind."""
    started = time.monotonic()
    entries = _inspect(tables, names, retention, now, needed or {})
    done = tuple(_maintain(tables, entry, retention, now, dry_run=dry_run) for entry in entries)
    return Upkeep(done, time.monotonic() - started, is_dry_run=dry_run)


def _inspect(
    tables: Tables,
    names: Iterable[str],
    retention: Retention,
    now: datetime,
    needed: RunsByTable,
) -> list[_Due]:
    found: list[_Due] = []
    for table in names:
        state = tables.catalog.load(table)
        if state is None:
            continue
        history = state.history
        expired = expired_snapshots(history, retention, now, needed.get(table, ()))
        oldest = oldest_stamp(history, expired)
        newest = next(history.ancestors(history.head), None)
        stats = file_stats_of(newest.summary) if newest else FileStats()
        found.append(_Due(table, expired, stats, oldest.committed_at if oldest else None))
    return found


def _maintain(tables: Tables, due: _Due, retention: Retention, now: datetime, *, dry_run: bool = False) -> TableUpkeep:
    """Expire first, so that compaction does not read what goes anyway."""
    limit: dict[str, str] = {}
    if due.expired and due.kept_since is not None:
        limit = history_limit(due.kept_since, f"states are kept for {retention}")
    removal = Removal(due.expired, now - UNFINISHED_AGE, properties=limit)
    is_compacted = due.stats.needs_compaction
    try:
        removed = remove_snapshots(tables.catalog, due.table, removal, dry_run=dry_run)
        if is_compacted and not dry_run:
            tables.compact(due.table)
    except TreatyError as error:
        return TableUpkeep(due.table, kept_since=due.kept_since, problem=f"{due.table}: {error}")
    data_files = due.stats.data_files + due.stats.delete_files
    return TableUpkeep(due.table, removed, is_compacted, data_files, due.kept_since)
