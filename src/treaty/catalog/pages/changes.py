"""What is changing: moves under way, days that are near, and what happened, by day."""

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

_SHOWN = 50
_SHOWN_AT_ONCE = 200
_MOVES = 100
_AHEAD = 60
_MOST_COUNTED = 500
ACTIVITY_KINDS = {
    "registration": "Registrations",
    "refusal": "Refusals",
    "lifecycle": "Deprecations and ends",
    "migration": "Moves",
    "proposal": "Proposals",
    "subscription": "Consumers",
    "waiver": "Waivers",
    "breach": "Broken promises",
}
"""What one may narrow the feed to."""

_MONTH = {
    ("registration", "registered"): ("version registered", "versions registered"),
    ("refusal", "refused"): ("version refused", "versions refused"),
    ("proposal", "proposed"): ("breaking version proposed", "breaking versions proposed"),
    ("lifecycle", "deprecated"): ("version deprecated", "versions deprecated"),
    ("lifecycle", "sunset"): ("version in sunset", "versions in sunset"),
    ("lifecycle", "retired"): ("version retired", "versions retired"),
    ("migration", "opened"): ("move opened", "moves opened"),
    ("migration", "acknowledged"): ("move acknowledged", "moves acknowledged"),
    ("migration", "moved"): ("consumer moved", "consumers moved"),
    ("subscription", "subscribed"): ("subscription made", "subscriptions made"),
    ("subscription", "unsubscribed"): ("subscription ended", "subscriptions ended"),
    ("breach", "breached"): ("promise broken", "promises broken"),
}
"""What a month is summed up by."""


@dataclass(frozen=True)
class ActivityFilter:
    """What somebody wants to see of what happened, as the address says it."""

    kind: str | None = None
    contract: str | None = None
    team: str | None = None
    cursor: str | None = None

    @property
    def is_anything(self) -> bool:
        """Whether nothing narrows the feed."""
        return not (self.kind or self.contract or self.team)


@dataclass(frozen=True)
class Near:
    """A day that is near, with an address that is safe to follow."""

    one: UpcomingAnswer
    address: str | None
    is_late: bool


@dataclass(frozen=True)
class Happened:
    """One thing that happened; a version that never came in has no page."""

    one: ActivityAnswer
    has_page: bool


def changes_page(source: Source, today: date, wanted: ActivityFilter | None = None, *, shown: int = _SHOWN) -> Page:
    """Return the page of what is changing; a static site shows more at once, having no next page."""
    wanted = wanted or ActivityFilter()
    teams = known_teams(source)
    found = source.activity(
        contract=wanted.contract, team=wanted.team, kind=wanted.kind, cursor=wanted.cursor, limit=shown
    )
    asked = asdict(wanted)
    return Page(
        links.changes(**asked),
        "changes.html",
        "Changes",
        "changes",
        {
            "wanted": wanted,
            "kinds": ACTIVITY_KINDS,
            "teams": sorted(teams),
            "known_teams": teams,
            "moves": _moves(source, today, teams),
            "near": near(source.upcoming(days=_AHEAD).items, today),
            "ahead": _AHEAD,
            "month": _month(source, today),
            "today": today,
            "days": tuple((day, tuple(some)) for day, some in _by_day(source, found.items)),
            "onward": links.changes(**(asked | {"cursor": found.next})) if found.next else None,
            "newest": links.changes(**asdict(replace(wanted, cursor=None))),
        },
        assets=("changes.css",),
    )


def static_changes_page(source: Source, today: date) -> Page:
    """Return the page for a static site, which cannot be asked for more."""
    return changes_page(source, today, shown=_SHOWN_AT_ONCE)


def near(found: Iterable[UpcomingAnswer], today: date) -> tuple[Near, ...]:
    """Return days that are near as pages draw them."""
    return tuple(Near(one, safe_address(one.link), one.on < today) for one in found)


def _moves(source: Source, today: date, teams: frozenset[str]) -> tuple[MigrationSummary, ...]:
    """Return the moves that are not over, the most pressing first."""
    live = [one for state in ("open", "proposed") for one in source.migrations.list(state=state, limit=_MOVES).items]
    urgency = {"failing": 0, "warning": 1}
    drawn = [summarize_migration(one, today, teams) for one in live]
    return tuple(sorted(drawn, key=lambda one: (urgency.get(one.window.state, 2), one.window.ends_on or date.max)))


def _month(source: Source, today: date) -> tuple[tuple[str, str], ...]:
    """Count what happened this month."""
    found = source.activity(since=today.replace(day=1), limit=_MOST_COUNTED)
    counts: Counter[tuple[str, str]] = Counter((one.kind, one.did) for one in found.items)
    more = "+" if found.next else ""
    summed = ((counts[step], one, many) for step, (one, many) in _MONTH.items() if counts[step])
    return tuple((f"{count:,}{more}", one if count == 1 else many) for count, one, many in summed)


def _by_day(source: Source, found: list[ActivityAnswer]) -> Iterable[tuple[date, Iterable[Happened]]]:
    waived = {one.contract for one in found if one.kind == "waiver" and one.contract}
    missing = {name for name in waived if not _is_registered(source, name)}
    happened = (Happened(one, one.contract not in missing and not _never_came(one)) for one in found)
    return groupby(happened, key=lambda one: one.one.at.date())


def _never_came(one: ActivityAnswer) -> bool:
    return one.kind == "refusal" and one.line is None


def _is_registered(source: Source, contract: str) -> bool:
    """Tell whether a contract has a page; a rule may be waived for one before it is registered."""
    try:
        source.latest(contract)
    except NotFound:
        return False
    return True
