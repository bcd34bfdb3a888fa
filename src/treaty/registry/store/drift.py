"""Profiles of events, drift findings and what was answered to them, in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, or_, select

from treaty.contracts.versions import Line
from treaty.registry.store.tables import drift_decisions, drift_findings, event_profiles
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_P, _F, _D = event_profiles.c, drift_findings.c, drift_decisions.c


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A row of a profile: the events of the runs that began in one hour."""

    line: Line
    version: str
    hour: datetime
    run: int
    at: datetime
    covers_day: bool
    profile: Mapping[str, Any]
    drifted: tuple[str, ...]
    recorded_at: datetime
    recorded_by: str


@dataclass(frozen=True, slots=True)
class StoredDrift:
    """A row of a finding."""

    line: Line
    fingerprint: str
    version: str
    first_seen: datetime
    last_seen: datetime
    seen: int
    run: int
    is_present: bool
    finding: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A row of an answer."""

    line: Line
    fingerprint: str
    answer: str
    owner: str
    reason: str
    until: date | None
    draft: str | None
    answered_at: datetime
    answered_by: str


def find_profile(connection: Connection, line: Line, version: str, hour: datetime) -> StoredProfile | None:
    """Return the profile of an hour."""
    query = select(event_profiles).where(_of_line(_P, line), _P.version == version, _P.hour == hour)
    row = connection.execute(query).one_or_none()
    return None if row is None else _profile(row)


def profiles_before(
    connection: Connection, line: Line, hour: datetime, hours: Sequence[datetime] | None, limit: int
) -> list[StoredProfile]:
    """Return the newest profiles before an hour, newest first: those of some hours, or those that cover a day."""
    query = select(event_profiles).where(_of_line(_P, line), _P.hour < hour)
    query = query.where(_P.covers_day if hours is None else _P.hour.in_(hours))
    return list(map(_profile, connection.execute(query.order_by(_P.hour.desc()).limit(limit))))


def put_profile(transaction: Transaction, profile: StoredProfile, keep_since: datetime) -> None:
    """Store the profile of an hour in place of what was known of it; delete those that are too old."""
    key = {
        "contract": profile.line.contract,
        "major": profile.line.major,
        "version": profile.version,
        "hour": profile.hour,
    }
    same = and_(_of_line(_P, profile.line), _P.version == profile.version, _P.hour == profile.hour)
    transaction.write(delete(event_profiles).where(_of_line(_P, profile.line), or_(_P.hour < keep_since, same)))
    transaction.insert(
        event_profiles,
        {
            **key,
            "run": profile.run,
            "at": profile.at,
            "covers_day": profile.covers_day,
            "profile": dict(profile.profile),
            "drifted": list(profile.drifted),
            "recorded_at": profile.recorded_at,
            "recorded_by": profile.recorded_by,
        },
    )


def findings_of(connection: Connection, line: Line) -> dict[str, StoredDrift]:
    """Return the findings of a line by fingerprint."""
    rows = connection.execute(select(drift_findings).where(_of_line(_F, line)))
    return {row.fingerprint: _finding(row) for row in rows}


def page_of_findings(
    connection: Connection,
    visibility: Visibility,
    contract: str | None,
    after: tuple[str, int, str] | None,
    limit: int,
) -> list[StoredDrift]:
    """Return a page of findings, by contract, line and fingerprint."""
    query = select(drift_findings).where(*visibility.conditions(_F.contract))
    if contract is not None:
        query = query.where(_F.contract == contract)
    if after is not None:
        name, major, fingerprint = after
        query = query.where(
            or_(
                _F.contract > name,
                and_(_F.contract == name, _F.major > major),
                and_(_F.contract == name, _F.major == major, _F.fingerprint > fingerprint),
            )
        )
    ordered = query.order_by(_F.contract, _F.major, _F.fingerprint).limit(limit)
    return list(map(_finding, connection.execute(ordered)))


def put_finding(transaction: Transaction, found: StoredDrift) -> None:
    """Store a finding in place of what was known of it."""
    same = and_(_of_line(_F, found.line), _F.fingerprint == found.fingerprint)
    transaction.write(delete(drift_findings).where(same))
    transaction.insert(
        drift_findings,
        {
            "contract": found.line.contract,
            "major": found.line.major,
            "fingerprint": found.fingerprint,
            "version": found.version,
            "first_seen": found.first_seen,
            "last_seen": found.last_seen,
            "seen": found.seen,
            "run": found.run,
            "is_present": found.is_present,
            "finding": dict(found.finding),
        },
    )


def decisions_of(connection: Connection, lines: Sequence[Line]) -> dict[tuple[Line, str], StoredDecision]:
    """Return what was answered to the findings of some lines, by line and fingerprint."""
    if not lines:
        return {}
    query = select(drift_decisions).where(or_(*(_of_line(_D, line) for line in dict.fromkeys(lines))))
    decisions = map(_decision, connection.execute(query))
    return {(one.line, one.fingerprint): one for one in decisions}


def put_decision(transaction: Transaction, decided: StoredDecision, *, is_new: bool) -> None:
    """Insert or update what was answered to a finding."""
    values = {
        "answer": decided.answer,
        "owner": decided.owner,
        "reason": decided.reason,
        "until": decided.until,
        "draft": decided.draft,
        "answered_at": decided.answered_at,
        "answered_by": decided.answered_by,
    }
    key = {"contract": decided.line.contract, "major": decided.line.major, "fingerprint": decided.fingerprint}
    if is_new:
        transaction.insert(drift_decisions, {**key, **values})
    else:
        transaction.update(drift_decisions, key, values)


def _of_line(columns: Any, line: Line) -> ColumnElement[bool]:
    return and_(columns.contract == line.contract, columns.major == line.major)


def _profile(row: Row[Any]) -> StoredProfile:
    return StoredProfile(
        Line(row.contract, row.major),
        row.version,
        row.hour,
        row.run,
        row.at,
        row.covers_day,
        row.profile,
        tuple(row.drifted),
        row.recorded_at,
        row.recorded_by,
    )


def _finding(row: Row[Any]) -> StoredDrift:
    return StoredDrift(
        Line(row.contract, row.major),
        row.fingerprint,
        row.version,
        row.first_seen,
        row.last_seen,
        row.seen,
        row.run,
        row.is_present,
        row.finding,
    )


def _decision(row: Row[Any]) -> StoredDecision:
    return StoredDecision(
        Line(row.contract, row.major),
        row.fingerprint,
        row.answer,
        row.owner,
        row.reason,
        row.until,
        row.draft,
        row.answered_at,
        row.answered_by,
    )
