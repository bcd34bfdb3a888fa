"""Nodes and edges of the dependency graph, and the nodes reached from one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from treaty.consumers.subscriptions import Subscription, parse_fields
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound


@dataclass(frozen=True, slots=True, order=True)
class Consumer:
    """A consumer, identified by name."""

    name: str

    def __str__(self) -> str:
        return self.name


Node: TypeAlias = Line | Consumer


CHANGE_FEED_LABEL = "change feed, not a business contract"


class DataLayer(StrEnum):
    """The layer in which a pipeline publishes a line, upstream first."""

    RAW = "raw"
    CHANGE_FEED = "change_feed"
    PRODUCT = "product"
    RECONCILIATION = "reconciliation"
    PUBLICATION = "publication"

    @property
    def is_internal(self) -> bool:
        """Whether a line follows the model of its producer, and is not made for consumers whose use is critical."""
        return self in (DataLayer.RAW, DataLayer.CHANGE_FEED, DataLayer.PRODUCT)

    @property
    def label(self) -> str:
        """The name for people; that of a change feed says what it is not."""
        return CHANGE_FEED_LABEL if self is DataLayer.CHANGE_FEED else self.value


def parse_layer(text: str | None) -> DataLayer | None:
    """Parse the name of a layer; None stays None."""
    if text is None:
        return None
    try:
        return DataLayer(text)
    except ValueError:
        raise InvalidDocument(f"unknown layer {text[:40]!r}; use one of: {', '.join(DataLayer)}") from None


@dataclass(frozen=True, slots=True)
class Reads:
    """A consumer depends on the line that it subscribes to."""

    subscription: Subscription


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """A field and the upstream fields that it is computed from."""

    target: FieldPath
    sources: tuple[FieldPath, ...]


class Targets(NamedTuple):
    """The fields of a line that a change of an upstream field reaches."""

    fields: tuple[FieldPath, ...]
    others: bool
    """Whether it may also reach the other fields, because it changes which rows there are or is not mapped."""


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """A line depends on the line that it is derived from; without fields and mappings, the fields are unknown.

    `mappings` names the upstream fields that each field is computed from. `fields` are those that are used otherwise,
    such as in filters and joins, or for fields that are not known: they affect the whole line.
    """

    line: Line
    upstream: Line
    fields: tuple[FieldPath, ...] = ()
    mappings: tuple[FieldMapping, ...] = ()

    @property
    def used_fields(self) -> tuple[FieldPath, ...]:
        """All upstream fields that are used; none if they are unknown."""
        sources = (source for mapping in self.mappings for source in mapping.sources)
        return tuple(dict.fromkeys((*sources, *self.fields)))

    def targets_of(self, changed: FieldPath) -> Targets:
        """Return what a change of an upstream field reaches."""
        targets = (mapping.target for mapping in self.mappings if _any_touches(mapping.sources, changed))
        is_known = bool(self.fields or self.mappings)
        return Targets(tuple(dict.fromkeys(targets)), not is_known or _any_touches(self.fields, changed))


def parse_lineage(
    fields: Iterable[str], mappings: Mapping[str, Iterable[str]]
) -> tuple[tuple[FieldPath, ...], tuple[FieldMapping, ...]]:
    """Parse the fields and mappings of a lineage entry; if one is not a field path, nothing is known of them."""
    try:
        mapped = tuple(FieldMapping(parse_path(target), parse_fields(tuple(mappings[target]))) for target in mappings)
        return parse_fields(tuple(fields)), mapped
    except InvalidDocument:
        return (), ()


@dataclass(frozen=True, slots=True)
class PublishedBy:
    """A line depends on the consumer with the name of its contract, because both are the same party."""

    line: Line
    consumer: Consumer


Dependency: TypeAlias = Reads | MadeFrom | PublishedBy


def dependent(dependency: Dependency) -> Node:
    """Return the node that depends on the other one."""
    return Consumer(dependency.subscription.consumer) if isinstance(dependency, Reads) else dependency.line


@dataclass(frozen=True, slots=True)
class Reached:
    """A node, its distance, and the previous node on the path."""

    node: Node
    distance: int
    via: Node


@dataclass(frozen=True)
class Reach:
    """All nodes that are reached from a node, sorted by distance and name, without the node itself.

    Stored as columns, because one object for each of 10,000 nodes would trigger garbage collection on every query.
    """

    origin: Node
    nodes: tuple[Node, ...] = ()
    distances: tuple[int, ...] = ()
    via: tuple[Node, ...] = ()

    def __iter__(self) -> Iterator[Reached]:
        return map(Reached, self.nodes, self.distances, self.via)

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self._rows

    def distance_to(self, node: Node) -> int:
        """Return the number of steps to a node."""
        return self.distances[self._row(node)]

    def via_of(self, node: Node) -> Node:
        """Return the node before a node."""
        return self.via[self._row(node)]

    def path_to(self, node: Node) -> tuple[Node, ...]:
        """Return a shortest path from the origin to a node; among equal paths, the first by name."""
        backwards = [node]
        while backwards[-1] != self.origin:
            backwards.append(self.via_of(backwards[-1]))
        return tuple(reversed(backwards))

    @cached_property
    def _rows(self) -> dict[Node, int]:
        return {node: row for row, node in enumerate(self.nodes)}

    def _row(self, node: Node) -> int:
        row = self._rows.get(node)
        if row is None:
            raise NotFound(f"{node} is not reached from {self.origin}; use one of the nodes that are")
        return row


def _any_touches(fields: tuple[FieldPath, ...], changed: FieldPath) -> bool:
    return any(field.touches(changed) for field in fields)


def node_sort_key(node: Node) -> tuple[str, int]:
    """Sort by name; a consumer comes before the lines of a contract with the same name."""
    return (node.contract, node.major) if isinstance(node, Line) else (node.name, -1)
