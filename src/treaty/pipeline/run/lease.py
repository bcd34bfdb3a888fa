"""The lease of a run: one run on the tables of a catalog at a time, wherever it was started.

The lease is kept in the properties of a small table: its holder and the time of the last heartbeat. A tag of that table
is named after the number of the run that took the lease. Taking it replaces the tag in a commit that requires the old
one, so that only one of several runs succeeds, on every kind of catalog. Numbers only increase; they are also the run
numbers and so the order in which tables were written. A holder that ended without releasing the lease loses it when
its heartbeat is `LEASE_S` old.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Event, Thread

from treaty.errors import Conflict, TreatyError
from treaty.pipeline.run.run_lock import LockHolder, already_running, current_holder, hold_run_lock, parse_holder
from treaty.pipeline.tables import Commit, Requirement, TableCatalog, TableState

LEASE_TABLE = "control.lease"
LEASE_S = 60.0
"""Seconds after the last heartbeat until another run may take the lease."""
HEARTBEAT_S = 15.0
POLL_INTERVAL_S = 0.5
"""Seconds between two attempts to take the lease."""
_TAG = "lease_"
_HOLDER = "treaty.lease.holder"
_HEARTBEAT = "treaty.lease.heartbeat"
_PROPERTIES = {
    "format-version": "2",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "5",
}


@dataclass(frozen=True)
class LeaseRecord:
    """The lease as it is stored: its number, its holder (None if it is free) and the last heartbeat."""

    number: int
    snapshot: int
    holder: LockHolder | None
    heartbeat: float

    def is_free(self, now: float, ended: LockHolder | None) -> bool:
        """Tell whether the lease can be taken; `ended` is a holder that is known to have ended."""
        if self.holder is None or now - self.heartbeat > LEASE_S:
            return True
        return ended is not None and ended.token == self.holder.token


class Lease:
    """A lease that this process holds. `number` is the number of the run."""

    def __init__(self, catalog: TableCatalog, record: LeaseRecord) -> None:
        self._catalog = catalog
        self._record = record
        self._renewed = time.monotonic()
        self._is_lost = False

    @property
    def number(self) -> int:
        """The fencing number, higher than that of every earlier holder."""
        return self._record.number

    def check(self) -> None:
        """Raise `Conflict` if another run may have taken the lease; called before anything is published."""
        if self._is_lost or time.monotonic() - self._renewed > LEASE_S:
            raise Conflict(
                f"run {self.number} was suspended for so long that another run may have started, so nothing more is "
                "published; run again"
            )

    def renew(self) -> None:
        """Store a heartbeat; `check` fails from now on if another run has taken the lease."""
        started = time.monotonic()
        try:
            self._catalog.commit(LEASE_TABLE, Commit(self._is_held(), properties={_HEARTBEAT: str(time.time())}))
        except Conflict:
            self._is_lost = True
            raise
        self._renewed = started

    def raise_to(self, number: int) -> None:
        """Take a higher number, if the tables have runs that are not known to the lease."""
        if number <= self.number:
            return
        record = replace(self._record, number=number)
        self._catalog.commit(
            LEASE_TABLE,
            Commit(self._is_held(), tags={_tag(number): record.snapshot}, drop=(_tag(self.number),)),
        )
        self._record = record

    def release(self) -> None:
        """Let the next run start at once. A lease that another run has taken is left alone."""
        with suppress(Conflict):
            self._catalog.commit(LEASE_TABLE, Commit(self._is_held(), properties={_HOLDER: ""}))

    def _is_held(self) -> tuple[Requirement, ...]:
        return (Requirement(_tag(self.number), self._record.snapshot),)


@contextmanager
def hold_project(
    project: Path,
    catalog: TableCatalog,
    now: datetime,
    wait: float = 0.0,
    on_wait: Callable[[LockHolder | None], None] | None = None,
) -> Iterator[Lease]:
    """Hold the lock of a project folder and the lease of its tables; see `hold_run_lock` and `hold_lease`."""
    holder = current_holder(int(now.timestamp() * 1000), now)
    with (
        hold_run_lock(project, holder, wait, on_wait) as ended,
        hold_lease(catalog, holder, ended, wait, on_wait) as lease,
    ):
        yield lease


@contextmanager
def hold_lease(
    catalog: TableCatalog,
    holder: LockHolder,
    ended: LockHolder | None = None,
    wait: float = 0.0,
    on_wait: Callable[[LockHolder | None], None] | None = None,
) -> Iterator[Lease]:
    """Hold the lease and renew it in the background, waiting up to `wait` seconds for another run to end.

    `ended` is a run of this folder that is known to have ended, even if it did not release its lease. Raises
    `Conflict` if another run still has the lease after that time.
    """
    deadline, is_notified = time.monotonic() + wait, False
    while (lease := take_lease(catalog, holder, ended)) is None:
        current = read_lease(catalog).holder
        if time.monotonic() >= deadline:
            raise already_running(current, wait, f"; if it was killed, its lease ends after {LEASE_S:g} s")
        if on_wait is not None and not is_notified:
            on_wait(current)
            is_notified = True
        time.sleep(max(0.0, min(POLL_INTERVAL_S, deadline - time.monotonic())))
    stop = Event()
    heartbeat = Thread(target=_keep_alive, args=(lease, stop), name="lease", daemon=True)
    heartbeat.start()
    try:
        yield lease
    finally:
        stop.set()
        heartbeat.join()
        lease.release()


def take_lease(catalog: TableCatalog, holder: LockHolder, ended: LockHolder | None = None) -> Lease | None:
    """Take the lease in one conditional commit; None if another run has it or was faster."""
    now, state = time.time(), _state(catalog)
    record = _parse_record(state)
    if not record.is_free(now, ended):
        return None
    number = max(holder.run, record.number + 1)
    holder = replace(holder, run=number)
    old = tuple(tag for tag in state.history.tags if tag.startswith(_TAG) and tag != _tag(number))
    try:
        catalog.commit(
            LEASE_TABLE,
            Commit(
                (Requirement(_tag(record.number), record.snapshot), Requirement(_tag(number), None)),
                tags={_tag(number): record.snapshot},
                drop=old,
                properties={_HOLDER: json.dumps(asdict(holder)), _HEARTBEAT: str(now)},
            ),
        )
    except Conflict:
        return None
    return Lease(catalog, LeaseRecord(number, record.snapshot, holder, now))


def read_lease(catalog: TableCatalog) -> LeaseRecord:
    """Return the lease as it is stored; the table is created if there is none."""
    return _parse_record(_state(catalog))


def _parse_record(state: TableState) -> LeaseRecord:
    tags = {int(tag.removeprefix(_TAG)): at for tag, at in state.history.tags.items() if tag.startswith(_TAG)}
    number = max(tags)
    holder = parse_holder(state.properties.get(_HOLDER, ""))
    return LeaseRecord(number, tags[number], holder, float(state.properties.get(_HEARTBEAT, "0")))


def _state(catalog: TableCatalog) -> TableState:
    """Return the table of the lease; the first run creates it, with the tag of a lease that is free."""
    state = catalog.load(LEASE_TABLE)
    if state is None:
        catalog.create_table(LEASE_TABLE, ["about"], _PROPERTIES)
        state = catalog.load(LEASE_TABLE)
    assert state is not None  # noqa: S101  it was created by this process or another
    assert state.history.head is not None  # noqa: S101  with a snapshot
    if any(tag.startswith(_TAG) for tag in state.history.tags):
        return state
    first = _tag(0)
    with suppress(Conflict):  # another run created it
        catalog.commit(LEASE_TABLE, Commit((Requirement(first, None),), tags={first: state.history.head}))
    return _state(catalog)


def _tag(number: int) -> str:
    return f"{_TAG}{number}"


def _keep_alive(lease: Lease, stop: Event) -> None:
    """Renew the lease until the run ends; if the catalog is down for a while, the next attempt may succeed."""
    while not stop.wait(HEARTBEAT_S):
        try:
            lease.renew()
        except Conflict:
            return
        except TreatyError:
            continue
