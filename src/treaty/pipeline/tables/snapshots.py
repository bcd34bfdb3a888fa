"""The history of a table: its snapshots, and which of them were published."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.errors import Conflict

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MAIN = "main"
_REWRITTEN = "replace"
"""The operation of a snapshot that has other files with the same rows."""


@dataclass(frozen=True)
class Snapshot:
    """One state of a table."""

    id: int
    parent: int | None
    operation: str
    committed_at: datetime
    summary: Mapping[str, str]


@dataclass(frozen=True)
class History:
    """The snapshots of a table, and the newest one of each of its branches."""

    snapshots: Mapping[int, Snapshot]
    branches: Mapping[str, int]

    @property
    def head(self) -> int | None:
        """The snapshot that readers see."""
        return self.branches.get(_MAIN)

    def stamps(self, head: int | None = None) -> Iterator[Stamp]:
        """Yield the stamps that a snapshot rests on, newest first; without one, those that readers see.

        The stamp of rows that were rewritten into other files counts for the newest files.
        """
        rewritten: int | None = None
        for snapshot in self.ancestors(self.head if head is None else head):
            if snapshot.operation == _REWRITTEN:
                rewritten = rewritten or snapshot.id
                continue
            stamp = stamp_of(snapshot.summary, rewritten or snapshot.id, snapshot.committed_at)
            rewritten = None
            if stamp is not None:
                yield stamp

    def ancestors(self, head: int | None) -> Iterator[Snapshot]:
        """Yield a snapshot and all that it rests on, newest first."""
        while head is not None and head in self.snapshots:
            snapshot = self.snapshots[head]
            yield snapshot
            head = snapshot.parent

    def foreign(self) -> Snapshot | None:
        """Return the newest snapshot if no run of ours made it."""
        newest = next((one for one in self.ancestors(self.head) if one.operation != _REWRITTEN), None)
        if newest is None or stamp_of(newest.summary, newest.id, newest.committed_at) is not None:
            return None
        is_first = newest.parent is None and newest.summary.get("total-records") == "0"
        return None if is_first else newest


def history_of(spark: SparkSession, name: str) -> History:
    """Read the snapshots and branches of a table in one query; branches first, so that their snapshots are there."""
    branches = spark.table(f"{name}.refs").where("type = 'BRANCH'").select("name", "snapshot_id")
    committed = F.unix_micros("committed_at").alias("committed")
    kept = spark.table(f"{name}.snapshots").select("snapshot_id", "parent_id", "operation", committed, "summary")
    rows = branches.unionByName(kept, allowMissingColumns=True).collect()
    found = (
        Snapshot(
            row["snapshot_id"],
            row["parent_id"],
            row["operation"],
            _START + timedelta(microseconds=row["committed"]),
            row["summary"],
        )
        for row in rows
        if row["name"] is None
    )
    newest = {row["name"]: row["snapshot_id"] for row in rows if row["name"] is not None}
    return History({one.id: one for one in found}, newest)


PREFIX = "treaty."
"""What a snapshot's own properties begin with, so that they do not meet Iceberg's."""


@dataclass(frozen=True)
class NewStamp:
    """What a run says of the rows that it is about to publish."""

    run: int
    reflects: Mapping[str, int]
    """The inputs by their tables, each with its run that is reflected here."""
    contract: str
    digest: str
    rows: Mapping[str, int]
    extra: Mapping[str, str] = field(default_factory=dict)
    """What else must be known to go on from here, such as how far a database was read."""

    def properties(self) -> dict[str, str]:
        """Return the stamp as properties of a snapshot."""
        return {
            f"{PREFIX}run": str(self.run),
            f"{PREFIX}reflects": json.dumps(dict(self.reflects), sort_keys=True),
            f"{PREFIX}contract": self.contract,
            f"{PREFIX}digest": self.digest,
            f"{PREFIX}rows": json.dumps(dict(self.rows), sort_keys=True),
            f"{PREFIX}extra": json.dumps(dict(self.extra), sort_keys=True),
        }


@dataclass(frozen=True)
class Stamp:
    """What a published snapshot says of itself."""

    run: int
    reflects: Mapping[str, int]
    contract: str
    digest: str
    rows: Mapping[str, int]
    snapshot: int
    committed_at: datetime
    extra: Mapping[str, str] = field(default_factory=dict)


def stamp_of(summary: Mapping[str, str], snapshot: int, committed_at: datetime) -> Stamp | None:
    """Read the stamp of a snapshot, or None where nobody stamped it."""
    run = summary.get(f"{PREFIX}run")
    if run is None:
        return None
    try:
        return Stamp(
            run=int(run),
            reflects=json.loads(summary.get(f"{PREFIX}reflects", "{}")),
            contract=summary.get(f"{PREFIX}contract", ""),
            digest=summary.get(f"{PREFIX}digest", ""),
            rows=json.loads(summary.get(f"{PREFIX}rows", "{}")),
            snapshot=snapshot,
            committed_at=committed_at,
            extra=json.loads(summary.get(f"{PREFIX}extra", "{}")),
        )
    except ValueError:
        raise Conflict(
            f"snapshot {snapshot} has a stamp that cannot be read; somebody else wrote it: run with --full"
        ) from None
