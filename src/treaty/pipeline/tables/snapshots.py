"""Snapshots of a table and their stamps: which run wrote a snapshot, from which inputs, under which contract."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from treaty.errors import Conflict
from treaty.formats.catalog_properties import PREFIX as PREFIX

MAIN = "main"
"""The branch that readers see."""
REWRITTEN = "replace"
"""The operation of a snapshot that rewrote files and left the rows as they were."""


@dataclass(frozen=True)
class Snapshot:
    """One snapshot of a table."""

    id: int
    parent: int | None
    operation: str
    committed_at: datetime
    summary: Mapping[str, str]


@dataclass(frozen=True)
class History:
    """The snapshots of a table, and the snapshot of each branch and tag."""

    snapshots: Mapping[int, Snapshot]
    branches: Mapping[str, int]
    tags: Mapping[str, int] = field(default_factory=dict)

    @property
    def head(self) -> int | None:
        """The id of the snapshot that readers see."""
        return self.branches.get(MAIN)

    def stamps(self, head: int | None = None) -> Iterator[Stamp]:
        """Yield the stamps of a snapshot and its ancestors, newest first; by default from the published snapshot.

        After a compaction the stamp names the compacted snapshot, which has the same rows.
        """
        rewritten: int | None = None
        for snapshot in self.ancestors(self.head if head is None else head):
            if snapshot.operation == REWRITTEN:
                rewritten = rewritten or snapshot.id
                continue
            stamp = parse_stamp(snapshot.summary, rewritten or snapshot.id, snapshot.committed_at)
            rewritten = None
            if stamp is not None:
                yield stamp

    def ancestors(self, head: int | None) -> Iterator[Snapshot]:
        """Yield a snapshot and its ancestors, newest first."""
        while head is not None and head in self.snapshots:
            snapshot = self.snapshots[head]
            yield snapshot
            head = snapshot.parent

    def unstamped_head(self) -> Snapshot | None:
        """Return the newest snapshot if it was not written by a run."""
        newest = next((snapshot for snapshot in self.ancestors(self.head) if snapshot.operation != REWRITTEN), None)
        if newest is None or parse_stamp(newest.summary, newest.id, newest.committed_at) is not None:
            return None
        is_first = newest.parent is None and newest.summary.get("total-records") == "0"
        return None if is_first else newest


@dataclass(frozen=True)
class NewStamp:
    """The stamp of a snapshot that is about to be published."""

    run: int
    reflects: Mapping[str, int]
    """By input table: its last run that is reflected in this snapshot."""
    contract: str
    digest: str
    rows: Mapping[str, int]
    extra: Mapping[str, str] = field(default_factory=dict)
    """State that the next run needs, such as how far a database was read."""

    def properties(self) -> dict[str, str]:
        """Return the stamp as snapshot properties."""
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
    """The stamp of a published snapshot."""

    run: int
    reflects: Mapping[str, int]
    contract: str
    digest: str
    rows: Mapping[str, int]
    snapshot: int
    committed_at: datetime
    extra: Mapping[str, str] = field(default_factory=dict)


def parse_stamp(summary: Mapping[str, str], snapshot: int, committed_at: datetime) -> Stamp | None:
    """Return the stamp in the summary of a snapshot, or None if it has none."""
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
            f"the stamp of snapshot {snapshot} cannot be read, so it was not written by this pipeline; run with --full"
        ) from None
