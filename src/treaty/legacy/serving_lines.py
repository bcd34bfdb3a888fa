"""Which publication would serve a consumer that reads raw data, a change feed, a product or a legacy feed directly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from treaty.contracts.versions import Line
from treaty.legacy.cutover import reads_feed


@dataclass(frozen=True, slots=True)
class ReplacedFeed:
    """A legacy feed, the names of tables under which it is read, and the publication that replaces it."""

    feed: str
    names: tuple[str, ...]
    line: Line


@dataclass(frozen=True, slots=True)
class Derivation:
    """A publication that is derived from a line."""

    publication: Line
    distance: int
    """How many steps lie between: 1 if it is made from the line itself."""
    fields: frozenset[str] = frozenset()
    """The fields of the line that it uses; empty if they are not known."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A line and one that it is made from, with the fields of the latter that it uses."""

    line: Line
    upstream: Line
    fields: frozenset[str] = frozenset()


def derivations_of(edges: Iterable[Edge], publications: Collection[Line]) -> dict[Line, tuple[Derivation, ...]]:
    """Return the publications that are derived from each line, at any distance."""
    below: dict[Line, list[Edge]] = {}
    for edge in edges:
        below.setdefault(edge.upstream, []).append(edge)
    return {line: tuple(_derived(line, below, publications)) for line in below}


def _derived(start: Line, below: Mapping[Line, list[Edge]], publications: Collection[Line]) -> Iterable[Derivation]:
    fields: dict[Line, frozenset[str]] = {}
    for edge in below[start]:
        fields[edge.line] = fields.get(edge.line, frozenset()) | edge.fields
    seen, front, distance = {start}, [start], 0
    while front:
        distance += 1
        reached = {edge.line for line in front for edge in below.get(line, ())} - seen
        for line in sorted(reached):
            if line in publications:
                yield Derivation(line, distance, fields.get(line, frozenset()))
        seen |= reached
        front = sorted(reached)


def serving_line(
    source: str,
    line: Line | None,
    columns: Collection[str],
    derivations: Mapping[Line, Collection[Derivation]],
    feeds: Iterable[ReplacedFeed] = (),
) -> Line | None:
    """Return the publication that would serve the reader of a source; None if there is none.

    A legacy feed is served by the publication that replaces it. Of the publications that are derived from a line, the
    one that uses most of the columns counts, then the nearest, then the first by name.
    """
    feed = find_feed(source, line, feeds)
    if feed is not None:
        return feed.line
    candidates = derivations.get(line, ()) if line is not None else ()
    wanted = frozenset(columns)
    best = min(candidates, key=lambda one: (-len(one.fields & wanted), one.distance, one.publication), default=None)
    return None if best is None else best.publication


def find_feed(source: str, line: Line | None, feeds: Iterable[ReplacedFeed]) -> ReplacedFeed | None:
    """Return the legacy feed that a source is, by the name of its table or contract."""
    name = source if line is None else line.contract
    return next((feed for feed in feeds if feed.line != line and reads_feed(name, feed.names)), None)
