"""Publications that are nearly the same, by their schema and by what they are derived from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from treaty.contracts.versions import Line

THRESHOLD = 0.8
MIN_FIELDS = 3
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Shape:
    """What is compared of a publication."""

    line: Line
    fields: Mapping[str, str] = field(default_factory=dict)
    """Types by path."""
    sources: frozenset[str] = frozenset()
    """The lines and fields that it is derived from; empty if they are not known."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two publications that are nearly the same; all shares are from 0 to 1."""

    first: Line
    second: Line
    schema: float
    lineage: float | None
    """None if it is not known what one of them is derived from."""
    shared: tuple[str, ...]
    """The paths in the first that both have."""

    @property
    def score(self) -> float:
        """How similar they are: the mean of schema and lineage, or the schema alone."""
        return self.schema if self.lineage is None else (self.schema + self.lineage) / 2


def compare_shapes(first: Shape, second: Shape) -> NearDuplicate:
    """Compare two publications.

    Names are compared without case and separators, so that `orderId` and `order_id` are the same. A field of another
    type counts half.
    """
    ours, theirs = _normalized(first.fields), _normalized(second.fields)
    common = ours.keys() & theirs.keys()
    names = _share(len(common), len(ours.keys() | theirs.keys()))
    typed = sum(ours[name][1] == theirs[name][1] for name in common)
    schema = (names + _share(typed, len(ours.keys() | theirs.keys()))) / 2
    lineage = None
    if first.sources and second.sources:
        lineage = _share(len(first.sources & second.sources), len(first.sources | second.sources))
    return NearDuplicate(first.line, second.line, schema, lineage, tuple(sorted(ours[name][0] for name in common)))


def find_near_duplicates(shapes: Iterable[Shape], threshold: float = THRESHOLD) -> tuple[NearDuplicate, ...]:
    """Return the pairs of different contracts that are similar enough, the most similar first.

    Publications with few fields are left out: they resemble each other by chance.
    """
    ordered = sorted((one for one in shapes if len(one.fields) >= MIN_FIELDS), key=lambda one: one.line)
    pairs = [
        compare_shapes(ordered[first], ordered[second])
        for first, second in _candidates(ordered)
        if ordered[first].line.contract != ordered[second].line.contract
    ]
    found = [pair for pair in pairs if pair.score >= threshold]
    return tuple(sorted(found, key=lambda pair: (-pair.score, pair.first, pair.second)))


def _candidates(shapes: Collection[Shape]) -> list[tuple[int, int]]:
    """Return the pairs that share a field; others cannot be similar."""
    by_name: dict[str, list[int]] = {}
    for number, shape in enumerate(shapes):
        for name in _normalized(shape.fields):
            by_name.setdefault(name, []).append(number)
    return sorted({pair for numbers in by_name.values() for pair in combinations(numbers, 2)})


def _normalized(fields: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return path and type by the comparable name; of several paths with one name the first counts."""
    named: dict[str, tuple[str, str]] = {}
    for path in sorted(fields):
        named.setdefault(_SEPARATORS.sub("", path).casefold() or path, (path, fields[path]))
    return named


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
