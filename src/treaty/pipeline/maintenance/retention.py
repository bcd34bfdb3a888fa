"""Which snapshots of a table are still needed: for time travel, for runs that are not finished, and for views."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from treaty.pipeline.tables.snapshots import History, Snapshot, Stamp, parse_stamp

UNFINISHED_AGE = timedelta(days=3)
"""Snapshots and files that nothing refers to may belong to a run that is not finished until they are this old."""


@dataclass(frozen=True)
class Retention:
    """How much history is kept: all states of the last days, and in any case the states of the last runs."""

    days: int = 30
    runs: int = 20

    def __str__(self) -> str:
        return f"{self.days} days and the last {self.runs} runs"


def expired_snapshots(
    history: History, retention: Retention, now: datetime, needed_runs: Collection[int] = ()
) -> tuple[int, ...]:
    """Return the snapshots that are not needed any more.

    The published snapshots that stay are a contiguous part of the history up to the newest one, so that `--as-of`
    has an answer for every time in it. `needed_runs` are runs of this table that a view reads. Branches and tags stay.
    """
    published = list(history.ancestors(history.head))
    last = _last_needed(published, retention, now, needed_runs)
    if last is None:
        return ()
    main = {snapshot.id for snapshot in published}
    needed = {snapshot.id for snapshot in published[: last + 1]} | set(_referenced(history, main))
    unfinished_since = now - UNFINISHED_AGE
    return tuple(
        snapshot.id
        for snapshot in history.snapshots.values()
        if snapshot.id not in needed and (snapshot.id in main or snapshot.committed_at < unfinished_since)
    )


def oldest_stamp(history: History, without: Collection[int]) -> Stamp | None:
    """Return the oldest published stamp once some snapshots are gone."""
    stamps = [stamp for snapshot in history.ancestors(history.head) if (stamp := _stamp(snapshot, without))]
    return stamps[-1] if stamps else None


def _stamp(snapshot: Snapshot, without: Collection[int] = ()) -> Stamp | None:
    if snapshot.id in without:
        return None
    return parse_stamp(snapshot.summary, snapshot.id, snapshot.committed_at)


def _last_needed(
    published: list[Snapshot], retention: Retention, now: datetime, needed_runs: Collection[int]
) -> int | None:
    """Return the position of the oldest published snapshot that stays; None if no run has published anything."""
    cutoff = now - timedelta(days=retention.days)
    last: int | None = None
    is_complete = True
    runs: set[int] = set()
    for position, snapshot in enumerate(published):
        stamp = _stamp(snapshot)
        if stamp is None:
            continue
        is_recent = last is None or published[last].committed_at > cutoff  # the state at the cutoff is needed too
        is_complete = is_recent or len(runs) < retention.runs or stamp.run in needed_runs
        last = position if is_complete else last
        runs.add(stamp.run)
    return len(published) - 1 if is_complete and last is not None else last


def _referenced(history: History, main: Collection[int]) -> Iterator[int]:
    """Yield the snapshots of other branches and of tags, as far as they are not published."""
    yield from history.tags.values()
    for head in history.branches.values():
        yield head
        for snapshot in history.ancestors(head):
            if snapshot.id in main:
                break
            yield snapshot.id
