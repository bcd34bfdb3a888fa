"""The page groups of a static site, and the names that each group depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from pydantic import BaseModel

from treaty.catalog.pages.changes import static_changes_page
from treaty.catalog.pages.contract import contract_pages
from treaty.catalog.pages.dependency_map import dependency_map_page
from treaty.catalog.pages.drift import drift_finding_page, drift_page, finding_keys
from treaty.catalog.pages.graph import around_page, graph_names, static_graph_pages
from treaty.catalog.pages.health import health_page
from treaty.catalog.pages.incidents import incident_numbers, incident_page, incidents_page
from treaty.catalog.pages.legacy_feeds import feed_names, legacy_feed_page, legacy_feeds_page
from treaty.catalog.pages.migrations import migration_page
from treaty.catalog.pages.teams import team_page, teams_page
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.contracts.versions import try_parse_line
from treaty.registry.model.page import MAX_PAGE_SIZE


class Renewal(StrEnum):
    """When a group of pages is rendered again."""

    WITH_NAMES = "when a name on the pages changed"
    ALWAYS = "when anything changed"


@dataclass(frozen=True)
class PageInputs:
    """What pages are built from: a registry and a time."""

    source: Source
    now: datetime


@dataclass(frozen=True)
class PageGroup:
    """Pages that are rendered together: keys such as contract names, and the pages of each key."""

    name: str
    renewal: Renewal
    keys: Callable[[PageInputs], Iterable[str]]
    pages: Callable[[PageInputs, str], Iterable[Page]]


def _single_key(_: PageInputs) -> tuple[str]:
    return ("",)


def _contracts(inputs: PageInputs) -> Iterator[str]:
    return iterate_pages(lambda cursor, limit: inputs.source.datasets(cursor=cursor, limit=limit))


def _graph_names(inputs: PageInputs) -> Iterator[str]:
    return graph_names(inputs.source)


def _migrations(inputs: PageInputs) -> Iterator[str]:
    migrations = iterate_pages(lambda cursor, limit: inputs.source.migrations.list(cursor=cursor, limit=limit))
    return (str(migration.id) for migration in migrations)


def _incidents(inputs: PageInputs) -> Iterator[str]:
    return map(str, incident_numbers(inputs.source))


def _teams(inputs: PageInputs) -> Iterator[str]:
    teams = iterate_pages(lambda cursor, limit: inputs.source.teams(cursor=cursor, limit=limit))
    return (team.team for team in teams)


def _overview_pages(inputs: PageInputs, _: str) -> Iterator[Page]:
    yield from static_graph_pages(inputs.source)
    yield dependency_map_page(inputs.source, limit=MAX_PAGE_SIZE)
    yield static_changes_page(inputs.source, inputs.now.date())
    yield health_page(inputs.source, now=inputs.now)
    yield incidents_page(inputs.source, limit=MAX_PAGE_SIZE)
    yield drift_page(inputs.source, limit=MAX_PAGE_SIZE)
    yield legacy_feeds_page(inputs.source, limit=MAX_PAGE_SIZE)
    yield teams_page(inputs.source, limit=MAX_PAGE_SIZE)


PAGE_GROUPS: tuple[PageGroup, ...] = (
    PageGroup(
        "contract", Renewal.WITH_NAMES, _contracts, lambda inputs, key: contract_pages(inputs.source, key, inputs.now)
    ),
    PageGroup("graph", Renewal.WITH_NAMES, _graph_names, lambda inputs, key: (around_page(inputs.source, key),)),
    PageGroup(
        "migration",
        Renewal.ALWAYS,
        _migrations,
        lambda inputs, key: (migration_page(inputs.source, int(key), inputs.now.date()),),
    ),
    PageGroup(
        "incident",
        Renewal.ALWAYS,
        _incidents,
        lambda inputs, key: (incident_page(inputs.source, int(key), inputs.now),),
    ),
    PageGroup(
        "drift finding",
        Renewal.ALWAYS,
        lambda inputs: (" ".join(key) for key in finding_keys(inputs.source)),
        lambda inputs, key: (drift_finding_page(inputs.source, *key.rsplit(" ", 1)),),
    ),
    PageGroup(
        "legacy feed",
        Renewal.ALWAYS,
        lambda inputs: feed_names(inputs.source),
        lambda inputs, key: (legacy_feed_page(inputs.source, key),),
    ),
    PageGroup("team", Renewal.ALWAYS, _teams, lambda inputs, key: (team_page(inputs.source, key, inputs.now.date()),)),
    PageGroup("overviews", Renewal.ALWAYS, _single_key, _overview_pages),
)
"""All groups except the list of contracts, which is built last."""


ANY_NAME = "*"
"""Marks pages whose answers only count some names, so that any change may affect them."""


class RecordingSource:
    """Wraps a registry and records every name in its calls and answers."""

    def __init__(self, target: Any, names: set[str] | None = None) -> None:
        self._target = target
        self.names: set[str] = set() if names is None else names

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return self._record(value) if callable(value) else RecordingSource(value, self.names)

    def as_source(self) -> Source:
        """Return it with the type that pages expect."""
        return cast(Source, self)

    def _record(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.names.update(names_in((args, kwargs)))
            answer = method(*args, **kwargs)
            self.names.update(names_in(answer))
            if getattr(answer, "more", 0):
                self.names.add(ANY_NAME)
            return answer

        return call


def names_in(value: Any) -> Iterable[str]:
    """Yield every string in a value, and for a line such as orders@1 also its contract."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
            if line := try_parse_line(one):
                yield line.contract
        elif isinstance(one, BaseModel):
            pending += one.__dict__.values()
        elif isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            pending += one
