"""Nodes and edges of the dependency graph, and the nodes reached from one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from treaty.consumers.subscriptions import Subscription
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line
from treaty.errors import NotFound


@dataclass(frozen=True, slots=True, order=True)
class Consumer:
    """A consumer, identified by name."""

    name: str

    def __str__(self) -> str:
        return self.name


Node: TypeAlias = Line | Consumer


@dataclass(frozen=True, slots=True)
class Reads:
    """A consumer depends on the line that it subscribes to."""

    subscription: Subscription


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """A line depends on the line that it is derived from; without fields, the fields are unknown."""

    line: Line
    upstream: Line
    fields: tuple[FieldPath, ...] = ()

    @property
    def fields_known(self) -> bool:
        """Whether the contract declares the fields it is derived from."""
        return bool(self.fields)


@dataclass(frozen=True, slots=True)
class PublishedBy:
    """A line depends on the consumer with the name of its contract, because both are the same party."""

    line: Line
    consumer: Consumer


Dependency: TypeAlias = Reads | MadeFrom | PublishedBy


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

    def path_to(self, node: Node) -> tuple[Node, ...]:
        """Return a shortest path from the origin to a node; among equal paths, the first by name."""
        backwards = [node]
        while backwards[-1] != self.origin:
            backwards.append(self.via[self._row(backwards[-1])])
        return tuple(reversed(backwards))

    @cached_property
    def _rows(self) -> dict[Node, int]:
        return {node: row for row, node in enumerate(self.nodes)}

    def _row(self, node: Node) -> int:
        row = self._rows.get(node)
        if row is None:
            raise NotFound(f"{node} is not reached from {self.origin}; use one of the nodes that are")
        return row


def node_sort_key(node: Node) -> tuple[str, int]:
    """Sort by name; a consumer comes before the lines of a contract with the same name."""
    return (node.contract, node.major) if isinstance(node, Line) else (node.name, -1)
