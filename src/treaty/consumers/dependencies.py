"""What stands in the dependency graph, and what it answers: parties, dependences, and how far they reach."""

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
    """Somebody who subscribes, by name."""

    name: str

    def __str__(self) -> str:
        return self.name


Node: TypeAlias = Line | Consumer


@dataclass(frozen=True, slots=True)
class Reads:
    """A consumer rests on the line it subscribes to."""

    subscription: Subscription


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """A line rests on the line it is made from; without fields it is unknown from which."""

    line: Line
    upstream: Line
    fields: tuple[FieldPath, ...] = ()

    @property
    def fields_known(self) -> bool:
        """Whether the contract says from which fields it is made."""
        return bool(self.fields)


@dataclass(frozen=True, slots=True)
class PublishedBy:
    """A line rests on the consumer that has the name of its contract: both are one party."""

    line: Line
    consumer: Consumer


Dependency: TypeAlias = Reads | MadeFrom | PublishedBy


@dataclass(frozen=True, slots=True)
class Reached:
    """A node, how many steps away it is, and the node one step nearer."""

    node: Node
    distance: int
    via: Node


@dataclass(frozen=True)
class Reach:
    """Everything that is reached from a node, the nearest first and then by name; never the node itself.

    It stands in columns: a value for each of 10,000 nodes would wake the garbage collector at every question.
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
        """Return one shortest path, from the origin to the node; where several lead on, the first by name does."""
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
            raise NotFound(f"{node} is not reached from {self.origin}; ask about one of the nodes that are")
        return row


def node_sort_key(node: Node) -> tuple[str, int]:
    """Sort by name; a consumer comes before the lines of the contract it shares its name with."""
    return (node.contract, node.major) if isinstance(node, Line) else (node.name, -1)
