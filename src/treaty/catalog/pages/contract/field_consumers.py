"""Consumers and downstream contracts of each field: who is affected if it is removed or changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from treaty.catalog.source import Source
from treaty.contracts.paths import FieldPath, Step, parse_path
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument
from treaty.registry.model import LayoutAnswer, SubscriptionAnswer

_MAX_NAMES = 8


@dataclass(frozen=True, slots=True)
class FieldConsumers:
    """Consumers of a field. Only the first are named."""

    names: tuple[str, ...]
    more: int = 0

    @property
    def count(self) -> int:
        """Number of consumers."""
        return len(self.names) + self.more


class FieldUsage:
    """Index of the consumers of a line by field."""

    def __init__(self, consumers: Iterable[LineConsumer]) -> None:
        self._at: defaultdict[tuple[Step, ...], set[tuple[str, FieldPath]]] = defaultdict(set)
        self._within: defaultdict[tuple[Step, ...], set[tuple[str, FieldPath]]] = defaultdict(set)
        without_fields: list[str] = []
        for consumer in consumers:
            if not consumer.fields:
                without_fields.append(consumer.label)
            for path in parse_paths(consumer.fields):
                self._at[path.steps].add((consumer.label, path))
                for length in range(len(path.steps) + 1):
                    self._within[path.steps[:length]].add((consumer.label, path))
        self.without_fields = tuple(sorted(without_fields))
        """Consumers that list no fields, so that any change may affect them."""

    def of(self, path: FieldPath) -> FieldConsumers:
        """Return the consumers of a field, of a field that contains it, or of a field inside it."""
        near = set(self._within.get(path.steps, ()))
        for length in range(len(path.steps)):
            near |= self._at.get(path.steps[:length], set())
        names = sorted({name for name, read in near if read.covers(path) or path.covers(read)})
        return FieldConsumers(tuple(names[:_MAX_NAMES]), max(len(names) - _MAX_NAMES, 0))


def parse_paths(texts: Iterable[str]) -> tuple[FieldPath, ...]:
    """Parse field paths and skip invalid ones."""
    paths: list[FieldPath] = []
    for text in texts:
        try:
            paths.append(_path(text))
        except InvalidDocument:
            continue
    return tuple(paths)


@lru_cache(maxsize=4_096)
def _path(text: str) -> FieldPath:
    """Parse a path. Cached, because many consumers use the same fields."""
    return parse_path(text)


_MAX_NODES = 1_000


@dataclass(frozen=True, slots=True)
class LineConsumer:
    """A consumer or downstream contract of a line. No fields means that they are not known."""

    name: str
    line: str
    fields: tuple[str, ...]
    title: str | None = None
    """Title of a downstream contract; None for a consumer."""

    @property
    def label(self) -> str:
        """Name to show."""
        return self.name if self.title is None else f"{self.title} @{parse_line(self.name).major}"

    @property
    def contract(self) -> str:
        """The contract of a downstream line."""
        return parse_line(self.name).contract


def subscribers(subscriptions: tuple[SubscriptionAnswer, ...]) -> tuple[LineConsumer, ...]:
    """Return the consumers of subscriptions."""
    return tuple(
        LineConsumer(subscription.consumer, subscription.line, tuple(subscription.fields))
        for subscription in subscriptions
    )


def downstream_contracts(source: Source, contract: str) -> tuple[LineConsumer, ...]:
    """Return the lines of other contracts that are made from this one, with the fields they use."""
    return downstream_in(load_downstream(source, contract), contract)


def load_downstream(source: Source, contract: str) -> LayoutAnswer:
    """Return what depends directly on the lines of a contract."""
    return source.consumers.layout(contract, hops=1, direction="downstream", limit=_MAX_NODES)


def downstream_in(answer: LayoutAnswer, contract: str) -> tuple[LineConsumer, ...]:
    """Return the lines of other contracts in a map that are made from this one, with the fields they use."""
    nodes = {node.id: node for node in answer.nodes}
    return tuple(
        LineConsumer(to.name, origin.name, tuple(edge.fields), to.title or to.name)
        for edge in answer.edges
        if edge.kind == "made_from"
        and (origin := nodes.get(edge.upstream)) is not None
        and (to := nodes.get(edge.downstream)) is not None
        and origin.contract == contract != to.contract
    )
