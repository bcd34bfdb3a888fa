"""Who reads a field: the answer to whom its removal would hit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from treaty.catalog.source import Source
from treaty.contracts.paths import FieldPath, Step, parse_path
from treaty.errors import InvalidDocument
from treaty.registry.model import SubscriptionAnswer

_NAMED = 8


@dataclass(frozen=True, slots=True)
class FieldReaders:
    """Who takes a field, as many of them by name as a row holds."""

    names: tuple[str, ...]
    more: int = 0

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.names) + self.more


class Readers:
    """Those who take fields of one line, found by field; each path is read once."""

    def __init__(self, takers: Iterable[Taker]) -> None:
        self._at: defaultdict[tuple[Step, ...], set[tuple[str, FieldPath]]] = defaultdict(set)
        self._within: defaultdict[tuple[Step, ...], set[tuple[str, FieldPath]]] = defaultdict(set)
        silent: list[str] = []
        for one in takers:
            if not one.fields:
                silent.append(one.label)
            for path in read_paths(one.fields):
                self._at[path.steps].add((one.label, path))
                for length in range(len(path.steps) + 1):
                    self._within[path.steps[:length]].add((one.label, path))
        self.silent = tuple(sorted(silent))
        """Those who never said what they take: no change is safe for them."""

    def of(self, path: FieldPath) -> FieldReaders:
        """Find who reads a field, what it stands in, or what stands in it."""
        near = set(self._within.get(path.steps, ()))
        for length in range(len(path.steps)):
            near |= self._at.get(path.steps[:length], set())
        names = sorted({name for name, read in near if read.covers(path) or path.covers(read)})
        return FieldReaders(tuple(names[:_NAMED]), max(len(names) - _NAMED, 0))


def read_paths(texts: Iterable[str]) -> tuple[FieldPath, ...]:
    """Return paths as far as they can be read."""
    found: list[FieldPath] = []
    for text in texts:
        try:
            found.append(_path(text))
        except InvalidDocument:
            continue
    return tuple(found)


@lru_cache(maxsize=4_096)
def _path(text: str) -> FieldPath:
    """Read a path; many consumers read the same fields."""
    return parse_path(text)


_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Taker:
    """One who takes fields of a line; without fields it is unknown which."""

    name: str
    line: str
    fields: tuple[str, ...]
    title: str | None = None
    """What it calls itself, if it is a contract."""

    @property
    def label(self) -> str:
        """What it is called in a row."""
        return self.name if self.title is None else f"{self.title} @{self.name.rpartition('@')[2]}"


def readers_among(subscriptions: tuple[SubscriptionAnswer, ...]) -> tuple[Taker, ...]:
    """Return consumers as takers."""
    return tuple(Taker(one.consumer, one.line, tuple(one.fields)) for one in subscriptions)


def made_from(source: Source, contract: str) -> tuple[Taker, ...]:
    """Return the lines of other contracts that are made from lines of this one, with the fields they take."""
    answer = source.consumers.map(contract, hops=1, direction="downstream", limit=_MOST)
    nodes = {one.id: one for one in answer.nodes}
    return tuple(
        Taker(to.name, origin.name, tuple(edge.fields), to.title or to.name)
        for edge in answer.edges
        if edge.kind == "made_from"
        and (origin := nodes.get(edge.upstream)) is not None
        and (to := nodes.get(edge.downstream)) is not None
        and origin.contract == contract != to.contract
    )
