"""Teams: owned contracts, dependencies, and upcoming changes that affect them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.catalog import links
from treaty.catalog.contacts import Contact, make_contact
from treaty.catalog.pages.changes import DAYS_AHEAD, upcoming_dates
from treaty.catalog.pages.migrations import MigrationSummary, known_teams, summarize_migration
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.registry.model import (
    ContractAnswer,
    MigrationConsumerAnswer,
    ProposalAnswer,
    SubscriptionAnswer,
)
from treaty.registry.model.contract_answers import Query

_PAGE_SIZE = 200
_MAX_OWNED = 200
_MAX_SUBSCRIPTIONS = 500
_MAX_LINEAGE_LOOKUPS = 50
_MAX_SOURCES = 200
_MAX_MIGRATIONS = 25
_MAX_INCIDENTS = 50
_MAX_PROPOSALS = 1_000
_MAX_FIELDS = 12
_MAX_CONTACTS = 20
_MAX_NAMESPACES = 1_000


@dataclass(frozen=True)
class TeamSubscription:
    """A subscription of a consumer of the team."""

    subscription: SubscriptionAnswer
    contract: str
    fields: tuple[str, ...]
    more_fields: int


@dataclass(frozen=True)
class ContractSource:
    """A source of a contract that the team owns."""

    line: str
    contract: str
    is_known: bool
    """Whether it is registered and has a page."""
    used_by: str
    used_by_contract: str
    fields: tuple[str, ...]
    more_fields: int


@dataclass(frozen=True)
class TeamMigration:
    """A migration and the consumers of the team in it."""

    migration: MigrationSummary
    consumers: tuple[MigrationConsumerAnswer, ...]

    @property
    def left(self) -> int:
        """Number of consumers that still have to move."""
        return sum(consumer.state in ("waiting", "acknowledged") for consumer in self.consumers)


def teams_page(source: Source, cursor: str | None = None, limit: int = _PAGE_SIZE) -> Page:
    """Return the list of teams."""
    teams = source.teams(cursor=cursor, limit=limit)
    return Page(
        links.teams(cursor),
        "teams.html",
        "Teams",
        "teams",
        {
            "teams": tuple(teams.items),
            "is_first": cursor is None,
            "next_page": links.teams(teams.next) if teams.next else None,
        },
        assets=("changes.css",),
    )


def find_team(source: Source, key: str) -> str:
    """Return the name of the team with this URL segment; addresses with the encoded name still work."""
    teams = iterate_pages(lambda cursor, limit: source.teams(cursor=cursor, limit=limit))
    return next((team.team for team in teams if links.team_key(team.team) == key), None) or links.decode_name(key)


def team_page(source: Source, name: str, today: date) -> Page:
    """Return the page of a team. Raises NotFound if it owns and consumes nothing."""
    matches = source.search(Query(owner=name), limit=_MAX_OWNED)
    owned = tuple(match for match in matches.items if any(owner.team == name for owner in match.owners))
    subscriptions = source.consumers.subscriptions(team=name, limit=_MAX_SUBSCRIPTIONS)
    if not owned and not subscriptions.items and not matches.next:
        raise NotFound(f"no team {name!r} owns or consumes a contract")
    upcoming = source.upcoming(team=name, days=DAYS_AHEAD).items
    return Page(
        links.team(name),
        "team.html",
        name,
        "teams",
        {
            "team": name,
            "owned": owned,
            "more_owned": matches.next is not None,
            "subscriptions": tuple(_team_subscription(subscription) for subscription in subscriptions.items),
            "more_subscriptions": subscriptions.next is not None,
            **_sources(source, owned),
            "namespaces": _namespaces(source, name),
            "consumers": len({subscription.consumer for subscription in subscriptions.items}),
            "migrations": _team_migrations(source, name, today),
            "upcoming": upcoming_dates(upcoming, today),
            "days_ahead": DAYS_AHEAD,
            "today": today,
            "proposals": _proposals(source, owned),
            "incidents": source.incidents.list(team=name, state="open", limit=_MAX_INCIDENTS).items,
            "contacts": _contacts(name, owned, subscriptions.items),
            "known_teams": known_teams(source) | {name},
        },
        assets=("changes.css", "incidents.css"),
    )


def _namespaces(source: Source, team: str) -> tuple[str, ...]:
    """Return the prefixes of ids that belong to the team."""
    namespaces = source.governance.namespaces(limit=_MAX_NAMESPACES).items
    return tuple(namespace.prefix for namespace in namespaces if namespace.team == team)


def _team_subscription(subscription: SubscriptionAnswer) -> TeamSubscription:
    more = max(0, len(subscription.fields) - _MAX_FIELDS)
    return TeamSubscription(
        subscription, parse_line(subscription.line).contract, tuple(subscription.fields[:_MAX_FIELDS]), more
    )


def _sources(source: Source, owned: tuple[ContractAnswer, ...]) -> dict[str, Any]:
    """Return the sources of the contracts that the team owns, and whether there are more."""
    sources = [
        contract_source
        for contract in owned[:_MAX_LINEAGE_LOOKUPS]
        for contract_source in _contract_sources(source, contract.id)
    ]
    return {
        "sources": tuple(sources[:_MAX_SOURCES]),
        "more_sources": len(owned) > _MAX_LINEAGE_LOOKUPS or len(sources) > _MAX_SOURCES,
    }


def _contract_sources(source: Source, contract: str) -> Iterator[ContractSource]:
    lineage = source.consumers.layout(contract, hops=1, direction="upstream", limit=_MAX_SOURCES)
    nodes = {node.id: node for node in lineage.nodes}
    for edge in lineage.edges:
        upstream, own = nodes.get(edge.upstream), nodes.get(edge.downstream)
        if edge.kind != "made_from" or upstream is None or own is None or own.contract != contract:
            continue
        fields, more = tuple(edge.fields[:_MAX_FIELDS]), max(0, len(edge.fields) - _MAX_FIELDS)
        known = upstream.status is not None
        yield ContractSource(upstream.name, upstream.contract or upstream.name, known, own.name, contract, fields, more)


def _team_migrations(source: Source, team: str, today: date) -> tuple[TeamMigration, ...]:
    """Return the open and proposed migrations with consumers of the team, most urgent first."""
    answers = [
        migration
        for state in ("proposed", "open")
        for migration in source.migrations.list(team=team, state=state, limit=_MAX_MIGRATIONS).items
    ]
    migrations = []
    for answer in answers[:_MAX_MIGRATIONS]:
        status = source.migrations.get(answer.id)
        consumers = tuple(consumer for consumer in status.consumers if (consumer.team or consumer.consumer) == team)
        migrations.append(TeamMigration(summarize_migration(status, today), consumers))
    return tuple(
        sorted(migrations, key=lambda migration: (migration.left == 0, migration.migration.window.ends_on or date.max))
    )


def _proposals(source: Source, owned: tuple[ContractAnswer, ...]) -> tuple[ProposalAnswer, ...]:
    """Return the open proposals of contracts that the team owns."""
    names = {contract.id for contract in owned}
    if not names:
        return ()
    proposals = source.governance.proposals(state="open", limit=_MAX_PROPOSALS)
    return tuple(proposal for proposal in proposals.items if proposal.contract in names)


def _contacts(
    team: str, owned: tuple[ContractAnswer, ...], subscriptions: list[SubscriptionAnswer]
) -> tuple[Contact, ...]:
    """Return the contacts of the team from its contracts and subscriptions."""
    texts: dict[str, str] = {}
    for contract in owned:
        for owner in contract.owners:
            if owner.team == team and owner.contact:
                texts.setdefault(owner.contact, "owner")
    for subscription in subscriptions:
        if subscription.contact:
            texts.setdefault(subscription.contact, f"for {subscription.consumer}")
    return tuple(make_contact(team, text, note) for text, note in list(texts.items())[:_MAX_CONTACTS])
