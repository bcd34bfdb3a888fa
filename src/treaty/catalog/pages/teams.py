"""Teams: what each owns, what it depends on, and what is coming at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.catalog import links
from treaty.catalog.contacts import Contact, make_contact
from treaty.catalog.pages.changes import near
from treaty.catalog.pages.migrations import MigrationSummary, known_teams, summarize_migration
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.errors import NotFound
from treaty.registry.model import (
    ContractAnswer,
    MigrationConsumerAnswer,
    ProposalAnswer,
    SubscriptionAnswer,
)
from treaty.registry.model.contract_answers import Query

_TEAMS = 200
_OWNED = 200
_READ = 500
_LOOKED_INTO = 50
_UPSTREAM = 200
_MOVES = 25
_PROPOSALS = 1_000
_AHEAD = 60
_MOST_FIELDS = 12
_CALLS = 20


@dataclass(frozen=True)
class Reading:
    """What one of a team's consumers reads."""

    one: SubscriptionAnswer
    contract: str
    fields: tuple[str, ...]
    more_fields: int


@dataclass(frozen=True)
class MadeFrom:
    """What one of a team's own contracts is made from."""

    line: str
    contract: str
    is_known: bool
    """Whether it is registered, and has a page."""
    by: str
    by_contract: str
    fields: tuple[str, ...]
    more_fields: int


@dataclass(frozen=True)
class Coming:
    """A move that consumers of a team have a part in, and where they stand."""

    move: MigrationSummary
    ours: tuple[MigrationConsumerAnswer, ...]

    @property
    def left(self) -> int:
        """How many of them are still to move."""
        return sum(one.state in ("waiting", "acknowledged") for one in self.ours)


def teams_page(source: Source, cursor: str | None = None, limit: int = _TEAMS) -> Page:
    """Return the list of teams."""
    found = source.teams(cursor=cursor, limit=limit)
    return Page(
        links.teams(cursor),
        "teams.html",
        "Teams",
        "teams",
        {
            "teams": tuple(found.items),
            "is_first": cursor is None,
            "onward": links.teams(found.next) if found.next else None,
        },
        assets=("changes.css",),
    )


def team_page(source: Source, name: str, today: date) -> Page:
    """Return the page of a team, or say that nobody knows it."""
    found = source.search(Query(owner=name), limit=_OWNED)
    owned = tuple(one for one in found.items if any(owner.team == name for owner in one.owners))
    read = source.consumers.subscriptions(team=name, limit=_READ)
    if not owned and not read.items and not found.next:
        raise NotFound(f"no team {name!r} owns or reads anything here; see the list of teams: /catalog/teams")
    upcoming = source.upcoming(team=name, days=_AHEAD).items
    return Page(
        links.team(name),
        "team.html",
        name,
        "teams",
        {
            "team": name,
            "owned": owned,
            "more_owned": found.next is not None,
            "read": tuple(_reading(one) for one in read.items),
            "more_read": read.next is not None,
            **_rests_on(source, owned),
            "consumers": len({one.consumer for one in read.items}),
            "coming": _coming(source, name, today),
            "near": near(upcoming, today),
            "ahead": _AHEAD,
            "today": today,
            "proposals": _proposals(source, owned),
            "calls": _calls(name, owned, read.items),
            "known_teams": known_teams(source) | {name},
        },
        assets=("changes.css",),
    )


def _reading(one: SubscriptionAnswer) -> Reading:
    more = max(0, len(one.fields) - _MOST_FIELDS)
    return Reading(one, one.line.rpartition("@")[0], tuple(one.fields[:_MOST_FIELDS]), more)


def _rests_on(source: Source, owned: tuple[ContractAnswer, ...]) -> dict[str, Any]:
    """Return what the team's contracts are made from, and whether that is all."""
    found = [one for contract in owned[:_LOOKED_INTO] for one in _made_from(source, contract.id)]
    return {
        "made_from": tuple(found[:_UPSTREAM]),
        "more_made_from": len(owned) > _LOOKED_INTO or len(found) > _UPSTREAM,
    }


def _made_from(source: Source, contract: str) -> Iterator[MadeFrom]:
    around = source.consumers.map(contract, hops=1, direction="upstream", limit=_UPSTREAM)
    nodes = {one.id: one for one in around.nodes}
    for edge in around.edges:
        above, own = nodes.get(edge.upstream), nodes.get(edge.downstream)
        if edge.kind != "made_from" or above is None or own is None or own.contract != contract:
            continue
        fields, more = tuple(edge.fields[:_MOST_FIELDS]), max(0, len(edge.fields) - _MOST_FIELDS)
        known = above.status is not None
        yield MadeFrom(above.name, above.contract or above.name, known, own.name, contract, fields, more)


def _coming(source: Source, team: str, today: date) -> tuple[Coming, ...]:
    """Return the moves that the team's consumers have a part in and that are not over, the most pressing first."""
    live = [
        one
        for state in ("proposed", "open")
        for one in source.migrations.list(team=team, state=state, limit=_MOVES).items
    ]
    found = []
    for one in live[:_MOVES]:
        board = source.migrations.get(one.id)
        ours = tuple(it for it in board.consumers if (it.team or it.consumer) == team)
        found.append(Coming(summarize_migration(board, today), ours))
    return tuple(sorted(found, key=lambda one: (one.left == 0, one.move.window.ends_on or date.max)))


def _proposals(source: Source, owned: tuple[ContractAnswer, ...]) -> tuple[ProposalAnswer, ...]:
    """Return the breaking changes of the team's contracts that wait for somebody's word."""
    names = {one.id for one in owned}
    if not names:
        return ()
    waiting = source.governance.proposals(state="open", limit=_PROPOSALS)
    return tuple(one for one in waiting.items if one.contract in names)


def _calls(team: str, owned: tuple[ContractAnswer, ...], read: list[SubscriptionAnswer]) -> tuple[Contact, ...]:
    """Return where the team can be reached, as its contracts and subscriptions say."""
    texts: dict[str, str] = {}
    for contract in owned:
        for owner in contract.owners:
            if owner.team == team and owner.contact:
                texts.setdefault(owner.contact, "as owner")
    for one in read:
        if one.contact:
            texts.setdefault(one.contact, f"for {one.consumer}")
    return tuple(make_contact(team, text, note) for text, note in list(texts.items())[:_CALLS])
