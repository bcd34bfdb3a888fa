"""The pages that a static site has, in the order they are drawn; the list of contracts follows, being the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from pydantic import BaseModel

from treaty.catalog.pages.changes import static_changes_page
from treaty.catalog.pages.contract import contract_pages
from treaty.catalog.pages.graph import around_page, graph_names, wide_pages
from treaty.catalog.pages.health import health_page
from treaty.catalog.pages.migrations import migration_page
from treaty.catalog.pages.teams import team_page, teams_page
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.registry.model.page import LARGEST_PAGE


class Renewal(StrEnum):
    """When pages are drawn anew."""

    WITH_NAMES = "when something that they name changed"
    ALWAYS = "when anything changed"


@dataclass(frozen=True)
class Occasion:
    """What pages are made from: a registry, and the day it is."""

    source: Source
    now: datetime


@dataclass(frozen=True)
class PageGroup:
    """A kind of page: of what there is one, or several that belong together, and how they are made."""

    name: str
    renewal: Renewal
    keys: Callable[[Occasion], Iterable[str]]
    pages: Callable[[Occasion, str], Iterable[Page]]


def _once(_: Occasion) -> tuple[str]:
    return ("",)


def _contracts(on: Occasion) -> Iterator[str]:
    return iterate_pages(lambda cursor, limit: on.source.datasets(cursor=cursor, limit=limit))


def _in_graphs(on: Occasion) -> Iterator[str]:
    return graph_names(on.source)


def _migrations(on: Occasion) -> Iterator[str]:
    found = iterate_pages(lambda cursor, limit: on.source.migrations.list(cursor=cursor, limit=limit))
    return (str(one.id) for one in found)


def _teams(on: Occasion) -> Iterator[str]:
    found = iterate_pages(lambda cursor, limit: on.source.teams(cursor=cursor, limit=limit))
    return (one.team for one in found)


def _of_all(on: Occasion, _: str) -> Iterator[Page]:
    yield from wide_pages(on.source)
    yield static_changes_page(on.source, on.now.date())
    yield health_page(on.source, now=on.now)
    yield teams_page(on.source, limit=LARGEST_PAGE)


PAGE_GROUPS: tuple[PageGroup, ...] = (
    PageGroup("contract", Renewal.WITH_NAMES, _contracts, lambda on, key: contract_pages(on.source, key, on.now)),
    PageGroup("graph around", Renewal.WITH_NAMES, _in_graphs, lambda on, key: (around_page(on.source, key),)),
    PageGroup(
        "migration", Renewal.ALWAYS, _migrations, lambda on, key: (migration_page(on.source, int(key), on.now.date()),)
    ),
    PageGroup("team", Renewal.ALWAYS, _teams, lambda on, key: (team_page(on.source, key, on.now.date()),)),
    PageGroup("overviews", Renewal.ALWAYS, _once, _of_all),
)
"""Every kind of page but the list of contracts."""


UNHEARD = "*"
"""Stands for names that an answer only counts: whatever changes may be about one of them."""


class RecordingSource:
    """Passes questions on to a registry, and keeps the names in them and in the answers."""

    def __init__(self, to: Any, heard: set[str] | None = None) -> None:
        self._to = to
        self.heard: set[str] = set() if heard is None else heard

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._to, name)
        return self._hearing(found) if callable(found) else RecordingSource(found, self.heard)

    def as_source(self) -> Source:
        """Return it as what pages ask."""
        return cast(Source, self)

    def _hearing(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*given: Any, **asked: Any) -> Any:
            self.heard.update(names_in((given, asked)))
            said = ask(*given, **asked)
            self.heard.update(names_in(said))
            if getattr(said, "more", 0):
                self.heard.add(UNHEARD)
            return said

        return answer


def names_in(value: Any) -> Iterable[str]:
    """Yield every text in a value, and of a line, such as orders@1, the contract too."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
            contract, mark, _ = one.rpartition("@")
            if mark:
                yield contract
        elif isinstance(one, BaseModel):
            pending += one.__dict__.values()
        elif isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            pending += one
