"""Parallel runs and the dispositions of their findings in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, delete, or_, select

from treaty.contracts.versions import Line
from treaty.legacy.differences import Disposition
from treaty.registry.store.tables import finding_dispositions, parallel_runs
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_R, _D = parallel_runs.c, finding_dispositions.c


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A row of a run."""

    feed: str
    as_of: date
    line: Line
    owner: str
    legacy_rows: int
    new_rows: int
    fingerprints: tuple[str, ...]
    result: Mapping[str, Any]
    recorded_at: datetime
    recorded_by: str


@dataclass(frozen=True, slots=True)
class StoredDisposition:
    """A row of a disposition."""

    fingerprint: str
    title: str
    disposition: str
    owner: str
    reason: str
    term: str | None
    decided_at: datetime
    decided_by: str
    decided_for: date | None = None
    """The day of the run that showed the finding."""

    def holds(self, first_seen: date) -> bool:
        """Return whether it still holds for a pattern that was found without a gap since a day.

        A defect in new that was fixed and is found again is a new finding.
        """
        is_fixed = self.decided_for is not None and self.decided_for < first_seen
        return not (self.disposition == Disposition.DEFECT_IN_NEW.value and is_fixed)


def put_run(transaction: Transaction, run: StoredRun) -> None:
    """Store a run in place of an earlier one of the same feed and day."""
    transaction.write(delete(parallel_runs).where(_R.feed == run.feed, _R.as_of == run.as_of))
    transaction.insert(
        parallel_runs,
        {
            "feed": run.feed,
            "as_of": run.as_of,
            "contract": run.line.contract,
            "major": run.line.major,
            "owner": run.owner,
            "legacy_rows": run.legacy_rows,
            "new_rows": run.new_rows,
            "fingerprints": list(run.fingerprints),
            "result": dict(run.result),
            "recorded_at": run.recorded_at,
            "recorded_by": run.recorded_by,
        },
    )


def find_run(connection: Connection, visibility: Visibility, feed: str, as_of: date | None) -> StoredRun | None:
    """Return the run of a feed up to a day, or the newest."""
    query = select(parallel_runs).where(_R.feed == feed, *visibility.conditions(_R.contract))
    if as_of is not None:
        query = query.where(_R.as_of == as_of)
    row = connection.execute(query.order_by(_R.as_of.desc()).limit(1)).one_or_none()
    return None if row is None else _run(row)


def page_of_runs(
    connection: Connection,
    visibility: Visibility,
    feed: str | None,
    after: tuple[str, date] | None,
    limit: int,
) -> list[StoredRun]:
    """Return a page of runs by feed, the newest day first."""
    query = select(parallel_runs).where(*visibility.conditions(_R.contract))
    if feed is not None:
        query = query.where(_R.feed == feed)
    if after is not None:
        name, day = after
        query = query.where(or_(_R.feed > name, (_R.feed == name) & (_R.as_of < day)))
    return list(map(_run, connection.execute(query.order_by(_R.feed, _R.as_of.desc()).limit(limit))))


def first_seen(connection: Connection, feed: str, until: date, fingerprints: Sequence[str]) -> dict[str, date]:
    """Return the day of the first run that found each pattern, of those without a gap before a day."""
    query = select(_R.as_of, _R.fingerprints).where(_R.feed == feed, _R.as_of <= until).order_by(_R.as_of.desc())
    first: dict[str, date] = {}
    open_ = set(fingerprints)
    for row in connection.execute(query):
        open_ &= set(row.fingerprints)
        if not open_:
            break
        first |= dict.fromkeys(open_, row.as_of)
    return first


def dispositions_of(connection: Connection, feed: str) -> dict[str, StoredDisposition]:
    """Return what was decided about the findings of a feed, by fingerprint."""
    rows = connection.execute(select(finding_dispositions).where(_D.feed == feed))
    return {
        row.fingerprint: StoredDisposition(
            row.fingerprint,
            row.title,
            row.disposition,
            row.owner,
            row.reason,
            row.term,
            row.decided_at,
            row.decided_by,
            row.decided_for,
        )
        for row in rows
    }


def put_disposition(transaction: Transaction, feed: str, decided: StoredDisposition, *, is_new: bool) -> None:
    """Insert or update what was decided about a finding."""
    values = {
        "title": decided.title,
        "disposition": decided.disposition,
        "owner": decided.owner,
        "reason": decided.reason,
        "term": decided.term,
        "decided_at": decided.decided_at,
        "decided_by": decided.decided_by,
        "decided_for": decided.decided_for,
    }
    key = {"feed": feed, "fingerprint": decided.fingerprint}
    if is_new:
        transaction.insert(finding_dispositions, {**key, **values})
    else:
        transaction.update(finding_dispositions, key, values)


def _run(row: Any) -> StoredRun:
    return StoredRun(
        row.feed,
        row.as_of,
        Line(row.contract, row.major),
        row.owner,
        row.legacy_rows,
        row.new_rows,
        tuple(row.fingerprints),
        row.result,
        row.recorded_at,
        row.recorded_by,
    )
