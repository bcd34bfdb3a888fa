"""The dependency map: consumers and what they read, critical consumers that read directly first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from treaty.catalog import links
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.contracts.versions import parse_line
from treaty.registry.model import MapEntryAnswer, NearDuplicateAnswer

ASSETS = ("map.css",)
PAGE_SIZE = 100
_MAX_COLUMNS = 8
_MAX_DUPLICATES = 20


@dataclass(frozen=True)
class MapFilter:
    """Filter of the map, from the query string."""

    consumer: str | None = None
    team: str | None = None
    source: str | None = None
    direct: str | None = None
    """`yes`: only direct readers."""
    cursor: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered."""
        return not (self.consumer or self.team or self.source or self.direct)


@dataclass(frozen=True, slots=True)
class ConsumerRows:
    """A consumer and the sources that it reads."""

    first: MapEntryAnswer
    entries: tuple[MapEntryAnswer, ...]

    @property
    def class_words(self) -> str:
        """The class in words."""
        return self.first.consumer_class.replace("_", " ")


@dataclass(frozen=True, slots=True)
class DuplicateRow:
    """Two publications that are nearly the same, with their contracts."""

    pair: NearDuplicateAnswer
    first: str
    second: str


def dependency_map_page(source: Source, map_filter: MapFilter | None = None, limit: int = PAGE_SIZE) -> Page:
    """Return the map."""
    criteria = map_filter or MapFilter()
    page = source.dependency_map.entries(
        consumer=criteria.consumer,
        team=criteria.team,
        source=criteria.source,
        direct=True if criteria.direct else None,
        cursor=criteria.cursor,
        limit=limit,
    )
    without_cursor = replace(criteria, cursor=None)
    return Page(
        links.dependency_map(**asdict(criteria)),
        "map.html",
        "Dependency map",
        "graph",
        {
            "filter": criteria,
            "consumers": tuple(group_by_consumer(page.items)),
            "is_critical_direct": any(entry.critical and entry.direct for entry in page.items),
            "max_columns": _MAX_COLUMNS,
            "next_page": links.dependency_map(**asdict(replace(criteria, cursor=page.next))) if page.next else None,
            "export": links.dependency_map_csv(
                team=criteria.team, consumer=criteria.consumer, source=criteria.source, direct=criteria.direct
            ),
            "duplicates": _duplicates(source) if criteria.cursor is None else (),
            "first_page": links.dependency_map(**asdict(without_cursor)),
        },
        ASSETS,
    )


def _duplicates(source: Source) -> tuple[DuplicateRow, ...]:
    return tuple(
        DuplicateRow(pair, parse_line(pair.first).contract, parse_line(pair.second).contract)
        for pair in source.dependency_map.near_duplicates(limit=_MAX_DUPLICATES).items
    )


def group_by_consumer(entries: list[MapEntryAnswer]) -> Iterator[ConsumerRows]:
    """Yield the consumers of a page, each once, in the order of their most critical source."""
    grouped: dict[str, list[MapEntryAnswer]] = {}
    for entry in entries:
        grouped.setdefault(entry.consumer, []).append(entry)
    for several in grouped.values():
        yield ConsumerRows(several[0], tuple(several))


def all_entries(source: Source, map_filter: MapFilter) -> Iterator[MapEntryAnswer]:
    """Yield all entries of a filter, for the export."""
    return iterate_pages(
        lambda cursor, limit: source.dependency_map.entries(
            consumer=map_filter.consumer,
            team=map_filter.team,
            source=map_filter.source,
            direct=True if map_filter.direct else None,
            cursor=cursor,
            limit=limit,
        )
    )
