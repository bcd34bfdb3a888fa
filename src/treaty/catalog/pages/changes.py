"""Open migrations, upcoming dates, and activity by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import date
from itertools import groupby

from treaty.catalog import links
from treaty.catalog.contacts import safe_address
from treaty.catalog.pages.migrations import MigrationSummary, known_teams, summarize_migration
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.errors import NotFound
from treaty.registry.model import ActivityAnswer, UpcomingAnswer

_PAGE_SIZE = 50
_STATIC_ENTRIES = 200
_MAX_MIGRATIONS = 100
DAYS_AHEAD = 60
_MAX_COUNTED = 500
ACTIVITY_KINDS = {
    "registration": "Registrations",
    "refusal": "Refusals",
    "lifecycle": "Lifecycle",
    "migration": "Migrations",
    "proposal": "Proposals",
    "subscription": "Consumers",
    "waiver": "Waivers",
    "breach": "Breaches",
}
"""Kinds of activity that the page can be filtered by."""

_MONTH_SUMMARY = {
    ("registration", "registered"): ("version registered", "versions registered"),
    ("refusal", "refused"): ("version refused", "versions refused"),
    ("proposal", "proposed"): ("breaking version proposed", "breaking versions proposed"),
    ("lifecycle", "deprecated"): ("version deprecated", "versions deprecated"),
    ("lifecycle", "sunset"): ("version in sunset", "versions in sunset"),
    ("lifecycle", "retired"): ("version retired", "versions retired"),
    ("migration", "opened"): ("migration opened", "migrations opened"),
    ("migration", "acknowledged"): ("acknowledgement", "acknowledgements"),
    ("migration", "moved"): ("consumer moved", "consumers moved"),
    ("subscription", "subscribed"): ("new subscription", "new subscriptions"),
    ("subscription", "unsubscribed"): ("subscription ended", "subscriptions ended"),
    ("breach", "breached"): ("breach", "breaches"),
}
"""What the summary of the month counts."""


@dataclass(frozen=True)
class ActivityFilter:
    """Filter of the activity, from the query string."""

    kind: str | None = None
    contract: str | None = None
    team: str | None = None
    cursor: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered."""
        return not (self.kind or self.contract or self.team)


@dataclass(frozen=True)
class UpcomingDate:
    """An upcoming date, with a link if its address is safe."""

    entry: UpcomingAnswer
    address: str | None
    is_late: bool


@dataclass(frozen=True)
class ActivityEntry:
    """An activity. Contracts that were never registered have no page."""

    entry: ActivityAnswer
    has_page: bool


def changes_page(
    source: Source, today: date, activity_filter: ActivityFilter | None = None, *, limit: int = _PAGE_SIZE
) -> Page:
    """Return the page of changes. A static site shows more entries, because it has no next page."""
    activity_filter = activity_filter or ActivityFilter()
    teams = known_teams(source)
    activity = source.activity(
        contract=activity_filter.contract,
        team=activity_filter.team,
        kind=activity_filter.kind,
        cursor=activity_filter.cursor,
        limit=limit,
    )
    query = asdict(activity_filter)
    return Page(
        links.changes(**query),
        "changes.html",
        "Changes",
        "changes",
        {
            "filter": activity_filter,
            "kinds": ACTIVITY_KINDS,
            "teams": sorted(teams),
            "known_teams": teams,
            "migrations": _open_migrations(source, today, teams),
            "upcoming": upcoming_dates(source.upcoming(days=DAYS_AHEAD).items, today),
            "days_ahead": DAYS_AHEAD,
            "month": _month_summary(source, today),
            "today": today,
            "days": tuple((day, tuple(entries)) for day, entries in _by_day(source, activity.items)),
            "next_page": links.changes(**(query | {"cursor": activity.next})) if activity.next else None,
            "first_page": links.changes(**asdict(replace(activity_filter, cursor=None))),
        },
        assets=("changes.css",),
    )


def static_changes_page(source: Source, today: date) -> Page:
    """Return the page for a static site."""
    return changes_page(source, today, limit=_STATIC_ENTRIES)


def upcoming_dates(answers: Iterable[UpcomingAnswer], today: date) -> tuple[UpcomingDate, ...]:
    """Return upcoming dates for the page."""
    return tuple(UpcomingDate(answer, safe_address(answer.link), answer.on < today) for answer in answers)


def _open_migrations(source: Source, today: date, teams: frozenset[str]) -> tuple[MigrationSummary, ...]:
    """Return open and proposed migrations, most urgent first."""
    answers = [
        migration
        for state in ("open", "proposed")
        for migration in source.migrations.list(state=state, limit=_MAX_MIGRATIONS).items
    ]
    urgency = {"failing": 0, "warning": 1}
    migrations = [summarize_migration(answer, today, teams) for answer in answers]
    return tuple(
        sorted(
            migrations,
            key=lambda migration: (urgency.get(migration.window.state, 2), migration.window.ends_on or date.max),
        )
    )


def _month_summary(source: Source, today: date) -> tuple[tuple[str, str], ...]:
    """Count the activity of this month."""
    activity = source.activity(since=today.replace(day=1), limit=_MAX_COUNTED)
    counts: Counter[tuple[str, str]] = Counter((entry.kind, entry.did) for entry in activity.items)
    more = "+" if activity.next else ""
    totals = ((counts[step], singular, many) for step, (singular, many) in _MONTH_SUMMARY.items() if counts[step])
    return tuple((f"{count:,}{more}", total if count == 1 else many) for count, total, many in totals)


def _by_day(source: Source, answers: list[ActivityAnswer]) -> Iterable[tuple[date, Iterable[ActivityEntry]]]:
    waived = {answer.contract for answer in answers if answer.kind == "waiver" and answer.contract}
    missing = {name for name in waived if not _is_registered(source, name)}
    entries = (
        ActivityEntry(answer, answer.contract not in missing and not _was_never_registered(answer))
        for answer in answers
    )
    return groupby(entries, key=lambda entry: entry.entry.at.date())


def _was_never_registered(activity: ActivityAnswer) -> bool:
    return activity.kind == "refusal" and activity.line is None


def _is_registered(source: Source, contract: str) -> bool:
    """Return whether a contract is registered. Waivers can name contracts before they are."""
    try:
        source.latest(contract)
    except NotFound:
        return False
    return True
