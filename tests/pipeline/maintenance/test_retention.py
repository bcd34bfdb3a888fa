"""Which snapshots are expired: never one that time travel, a view, a branch or an unfinished run needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from treaty.pipeline.maintenance.retention import Retention, expired_snapshots, oldest_stamp
from treaty.pipeline.tables.snapshots import History, NewStamp, Snapshot

NOW = datetime(2026, 6, 30, tzinfo=UTC)


def _history(*days_ago: float, branches: dict[str, int] | None = None, tags: dict[str, int] | None = None) -> History:
    """Return runs 1, 2, …, each a stamped snapshot n * 10 after an unstamped one n * 10 - 1, oldest first."""
    snapshots: dict[int, Snapshot] = {}
    parent = None
    for run, age in enumerate(days_ago, 1):
        at = NOW - timedelta(days=age)
        stamp = NewStamp(run, {}, "shop.orders 1.0.0", "", {}).properties()
        snapshots[run * 10 - 1] = Snapshot(run * 10 - 1, parent, "delete", at, {})
        snapshots[run * 10] = Snapshot(run * 10, run * 10 - 1, "append", at, stamp)
        parent = run * 10
    heads = {"main": parent, **(branches or {})} if parent else {}
    return History(snapshots, heads, tags or {})


CASES = {
    "all within the days": (Retention(30, 1), (20, 10, 1), (), ()),
    "the state at the cutoff is answered by the run before it": (Retention(30, 1), (50, 40, 10), (), (9, 10, 19)),
    "the last runs stay however old they are": (Retention(30, 2), (90, 80, 70), (), (9, 10, 19)),
    "fewer runs than are kept": (Retention(0, 20), (90, 80, 70), (), ()),
    "no days, one run": (Retention(0, 1), (90, 80, 70), (), (9, 10, 19, 20, 29)),
    "a run that a view reads stays, with all after it": (Retention(0, 1), (90, 80, 70), (2,), (9, 10, 19)),
    "nothing was published": (Retention(0, 1), (), (), ()),
}


@pytest.mark.parametrize(("retention", "days_ago", "needed", "expired"), CASES.values(), ids=CASES.keys())
def test_expired_snapshots(
    retention: Retention, days_ago: tuple[int, ...], needed: tuple[int, ...], expired: tuple[int, ...]
) -> None:
    assert expired_snapshots(_history(*days_ago), retention, NOW, needed) == expired


def test_branches_and_tags_stay() -> None:
    history = _history(90, 80, 70, branches={"failed_2": 25}, tags={"audited": 10})
    failed = {24: Snapshot(24, 20, "delete", NOW, {}), 25: Snapshot(25, 24, "append", NOW, {})}
    history = History({**history.snapshots, **failed}, history.branches, history.tags)
    assert expired_snapshots(history, Retention(0, 1), NOW) == (9, 19, 20, 29)


@pytest.mark.parametrize(("age", "expired"), [(2, ()), (4, (99,))])
def test_what_an_interrupted_run_wrote_stays_for_three_days(age: int, expired: tuple[int, ...]) -> None:
    history = _history(1)
    left = Snapshot(99, 10, "append", NOW - timedelta(days=age), {})
    assert expired_snapshots(History({**history.snapshots, 99: left}, history.branches), Retention(), NOW) == expired


def test_a_compacted_state_stays_with_the_stamp_of_its_run() -> None:
    history = _history(90, 80)
    compacted = Snapshot(21, 20, "replace", NOW - timedelta(days=1), {})
    history = History({**history.snapshots, 21: compacted}, {"main": 21})
    expired = expired_snapshots(history, Retention(0, 1), NOW)
    assert expired == (9, 10, 19)
    oldest = oldest_stamp(history, expired)
    assert oldest is not None
    assert oldest.run == 2
