"""The lease of a run: one holder at a time on a catalog, numbers that only increase, and fencing of a late holder."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier, Timer

import pytest

from treaty.errors import Conflict
from treaty.pipeline.run import lease as leases
from treaty.pipeline.run.lease import Lease, hold_lease, read_lease, take_lease
from treaty.pipeline.run.run_lock import LockHolder, current_holder
from treaty.pipeline.tables import TableCatalog
from treaty.spark.session_options import IcebergCatalog, SparkOptions

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


@pytest.fixture
def catalog(tmp_path: Path) -> TableCatalog:
    lake = IcebergCatalog(f"jdbc:sqlite:{tmp_path / 'lake.db'}", str(tmp_path / "lake"), name="lake")
    return TableCatalog.from_options(SparkOptions(catalog=lake))


def _taken(catalog: TableCatalog, run: int, ended: LockHolder | None = None) -> Lease:
    lease = take_lease(catalog, current_holder(run, NOW), ended)
    assert lease is not None
    return lease


def test_one_of_several_runs_takes_the_first_lease(catalog: TableCatalog) -> None:
    start = Barrier(4)

    def take(number: int) -> Lease | None:
        start.wait()
        return take_lease(catalog, current_holder(number, NOW))

    with ThreadPoolExecutor(4) as pool:
        taken = [lease for lease in pool.map(take, range(1, 5)) if lease is not None]
    assert len(taken) == 1
    assert read_lease(catalog).number == taken[0].number


def test_second_run_is_refused_with_the_holder_until_the_first_ends(catalog: TableCatalog) -> None:
    with hold_lease(catalog, current_holder(4711, NOW)) as first:
        assert first.number == 4711
        with pytest.raises(Conflict) as refused, hold_lease(catalog, current_holder(4712, NOW)):
            pytest.fail("two runs at once")
        message = str(refused.value)
        assert all(part in message for part in ("run 4711", "2026-03-01 08:00:00 UTC", "--wait", "ends after 60 s"))
    with hold_lease(catalog, current_holder(4700, NOW)) as second:
        assert second.number == 4712  # higher than every earlier one, whatever the clock says


def test_a_run_waits_for_the_lease(catalog: TableCatalog) -> None:
    first, waiting = _taken(catalog, 1), list[LockHolder | None]()
    Timer(0.3, first.release).start()
    with hold_lease(catalog, current_holder(2, NOW), wait=30, on_wait=waiting.append) as second:
        assert second.number == 2
    assert [holder.run for holder in waiting if holder] == [1]


def test_lease_of_a_run_that_is_known_to_have_ended_is_taken_at_once(catalog: TableCatalog) -> None:
    killed = current_holder(1, NOW)
    assert take_lease(catalog, killed) is not None
    assert take_lease(catalog, current_holder(2, NOW)) is None
    assert _taken(catalog, 2, ended=killed).number == 2


def test_late_holder_can_neither_publish_nor_renew_nor_release(
    catalog: TableCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = _taken(catalog, 1)
    late.check()
    monkeypatch.setattr(leases, "LEASE_S", -1.0)  # as if a minute had passed without a heartbeat
    with pytest.raises(Conflict, match="run 1 was suspended for so long that another run may have started"):
        late.check()
    second = _taken(catalog, 2)
    monkeypatch.setattr(leases, "LEASE_S", 60.0)
    with pytest.raises(Conflict):
        late.renew()
    with pytest.raises(Conflict, match="nothing more is published"):
        late.check()
    late.release()
    second.check()
    holder = read_lease(catalog).holder
    assert holder is not None
    assert holder.run == 2


def test_heartbeats_keep_the_lease(catalog: TableCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.01)
    with hold_lease(catalog, current_holder(1, NOW)):
        first = read_lease(catalog).heartbeat
        deadline = time.monotonic() + 20
        while read_lease(catalog).heartbeat == first:
            assert time.monotonic() < deadline
    assert read_lease(catalog).holder is None


def test_number_rises_above_the_runs_in_the_tables(catalog: TableCatalog) -> None:
    lease = _taken(catalog, 5)
    lease.raise_to(4)
    assert lease.number == 5
    lease.raise_to(9)
    assert (lease.number, read_lease(catalog).number) == (9, 9)
    lease.renew()
    lease.release()
    assert _taken(catalog, 1).number == 10
