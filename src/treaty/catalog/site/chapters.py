"""The pages that a static site has, in the order they are drawn; the list of contracts follows, being the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from treaty.catalog.pages.changes import changes_at_once
from treaty.catalog.pages.contract import contract_pages
from treaty.catalog.pages.graph import around_page, graph_names, wide_pages
from treaty.catalog.pages.health import health_page
from treaty.catalog.pages.migration import migration_page
from treaty.catalog.pages.teams import team_page, teams_page
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source, everything
from treaty.registry.pages import LARGEST_PAGE


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
class Chapter:
    """A kind of page: of what there is one, or several that belong together, and how they are made."""

    name: str
    renewal: Renewal
    keys: Callable[[Occasion], Iterable[str]]
    pages: Callable[[Occasion, str], Iterable[Page]]


def _once(_: Occasion) -> tuple[str]:
    return ("",)


def _contracts(on: Occasion) -> Iterator[str]:
    return everything(lambda cursor, limit: on.source.datasets(cursor=cursor, limit=limit))


def _in_graphs(on: Occasion) -> Iterator[str]:
    return graph_names(on.source)


def _migrations(on: Occasion) -> Iterator[str]:
    found = everything(lambda cursor, limit: on.source.migrations.list(cursor=cursor, limit=limit))
    return (str(one.id) for one in found)


def _teams(on: Occasion) -> Iterator[str]:
    found = everything(lambda cursor, limit: on.source.teams(cursor=cursor, limit=limit))
    return (one.team for one in found)


def _of_all(on: Occasion, _: str) -> Iterator[Page]:
    yield from wide_pages(on.source)
    yield changes_at_once(on.source, on.now.date())
    yield health_page(on.source, now=on.now)
    yield teams_page(on.source, limit=LARGEST_PAGE)


CHAPTERS: tuple[Chapter, ...] = (
    Chapter("contract", Renewal.WITH_NAMES, _contracts, lambda on, key: contract_pages(on.source, key, on.now)),
    Chapter("graph around", Renewal.WITH_NAMES, _in_graphs, lambda on, key: (around_page(on.source, key),)),
    Chapter(
        "migration", Renewal.ALWAYS, _migrations, lambda on, key: (migration_page(on.source, int(key), on.now.date()),)
    ),
    Chapter("team", Renewal.ALWAYS, _teams, lambda on, key: (team_page(on.source, key, on.now.date()),)),
    Chapter("overviews", Renewal.ALWAYS, _once, _of_all),
)
"""Every kind of page but the list of contracts."""
