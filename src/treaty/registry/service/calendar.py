"""Upcoming dates: deprecations, sunsets, retirements and expiries of lines, and ends of migrations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status
from treaty.registry.model import UpcomingAnswer
from treaty.registry.model.operation_answers import UpcomingKind
from treaty.registry.store import Connection, migration_records, subscriptions, versions
from treaty.registry.store.teams import Realm, realm_of
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Visibility

MAX_DAYS = 3_660
_MAX_DATES = 5_000
_AHEAD: dict[Status, tuple[tuple[UpcomingKind, str], ...]] = {
    Status.ACTIVE: (
        ("deprecation", "announced_on"),
        ("sunset", "sunset_on"),
        ("retirement", "retire_on"),
        ("expiry", "expires_on"),
    ),
    Status.DEPRECATED: (("sunset", "sunset_on"), ("retirement", "retire_on")),
    Status.SUNSET: (("retirement", "retire_on"),),
}
"""The dates that a version still has before it, by status; a retirement that is overdue still counts."""

_HEADLINES: dict[UpcomingKind, str] = {
    "deprecation": "is deprecated: consumers are warned",
    "sunset": "enters sunset: no new consumers can subscribe",
    "retirement": "can be retired; it is no longer available afterwards",
    "expiry": "expires, and is deprecated unless it is renewed",
    "migration": "should have no consumers left: its migration window ends",
}


@dataclass(slots=True)
class _Day:
    """One date of a line, with the versions it concerns."""

    line: Line
    kind: UpcomingKind
    on: date
    versions: list[str] = field(default_factory=list)
    owners: frozenset[str] = frozenset()
    migration: int | None = None
    link: str | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """The sort key: date, line and kind."""
        return self.on.isoformat(), str(self.line), self.kind


def upcoming(
    connection: Connection,
    visibility: Visibility,
    today: date,
    days: int,
    contract: str | None,
    team: str | None,
    after: tuple[str, str, str],
    limit: int,
) -> list[UpcomingAnswer]:
    """Return the dates within some days, after a sort key, the nearest first."""
    if not 1 <= days <= MAX_DAYS:
        raise InvalidDocument(f"days must be 1 to {MAX_DAYS:,}, not {days}")
    until = today + timedelta(days=days)
    realm = realm_of(connection, visibility, team) if team is not None else None
    dates = [*_version_dates(connection, until, today), *_migration_ends(connection, until)]
    near = [day for day in dates if visibility.sees(day.line.contract)]
    wanted = [day for day in near if contract in (None, day.line.contract) and _concerns(realm, day.line)]
    nearest = sorted((day for day in wanted if day.place > after), key=lambda day: day.place)[:limit]
    readers = subscriptions.count_readers(connection, {day.line for day in nearest})
    return [_answer(day, readers.get(day.line, 0)) for day in nearest]


def _concerns(realm: Realm | None, line: Line) -> bool:
    return realm is None or line.contract in realm.owned or line in realm.lines


def _version_dates(connection: Connection, until: date, today: date) -> list[_Day]:
    """Return the dates of lines; versions with the same date are grouped."""
    result: dict[tuple[Line, UpcomingKind, date], _Day] = {}
    for version in versions.versions_dated_until(connection, until, _MAX_DATES):
        for kind, on in _days(version, until, today):
            there = result.setdefault((version.line, kind, on), _Day(version.line, kind, on))
            there.versions.append(version.version)
            there.owners |= version.teams
            there.link = version.deprecation_uri or there.link
    return list(result.values())


def _days(version: StoredVersion, until: date, today: date) -> Iterator[tuple[UpcomingKind, date]]:
    by_expiry = version.status is Status.ACTIVE and version.announced_on == version.expires_on
    for kind, name in _AHEAD.get(version.status, ()):
        if by_expiry and kind != "expiry":
            continue
        on: date | None = getattr(version, name)
        if on is not None and on <= until and (on >= today or version.status is Status.SUNSET):
            yield kind, on


def _migration_ends(connection: Connection, until: date) -> Iterator[_Day]:
    for migration in migration_records.ending(connection, until, _MAX_DATES):
        if migration.ends_on is not None:
            owners = frozenset({migration.owner} if migration.owner else ())
            yield _Day(
                migration.line,
                "migration",
                migration.ends_on,
                [migration.version],
                owners,
                migration.id,
                migration.guide,
            )


def _answer(day: _Day, consumers: int) -> UpcomingAnswer:
    return UpcomingAnswer(
        on=day.on,
        kind=day.kind,
        headline=f"{day.line} {_HEADLINES[day.kind]}",
        contract=day.line.contract,
        line=str(day.line),
        versions=day.versions,
        owners=sorted(day.owners),
        consumers=consumers,
        migration=day.migration,
        link=day.link,
    )
