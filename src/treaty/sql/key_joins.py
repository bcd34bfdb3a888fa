"""How rows stand to the key: each at home with one key, the same for every key, or held to the key of a row around."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from treaty.sql.relations import JoinKind

P = TypeVar("P", bound=Hashable)
"""What names a column: its place in a source, or its number in an output."""


class RowScope(Enum):
    """Where rows are at home."""

    EVERYWHERE = "everywhere"
    """They do not depend on the key."""
    ONE_KEY = "one key"
    """Each depends on the rows of one key only."""
    AROUND = "around"
    """They depend on the rows of one key only: the one of the row around the query."""


class KeysMixed(Exception):
    """A query that mixes keys, with the reason in words."""


@dataclass(frozen=True)
class KeyColumns(Generic[P]):
    """For one column of the key: the columns with its value or nothing, and the sets of which one has it."""

    maybe: frozenset[P] = frozenset()
    covers: frozenset[frozenset[P]] = frozenset()

    def is_by(self, columns: frozenset[P] | None) -> bool:
        """Tell whether the first value among columns is always the key's."""
        return bool(columns) and columns <= self.maybe and any(cover <= columns for cover in self.covers)  # type: ignore[operator]

    def may_be_by(self, columns: frozenset[P] | None) -> bool:
        """Tell whether the first value among columns, if there is one, is the key's."""
        return bool(columns) and columns <= self.maybe  # type: ignore[operator]

    def beside(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Return what holds the key where both are there."""
        return KeyColumns(self.maybe | other.maybe, self.covers | other.covers)

    def or_else(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Return what holds the key where either is there."""
        both = frozenset(one | another for one in self.covers for another in other.covers)
        return KeyColumns(self.maybe | other.maybe, both)

    def perhaps(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Return what holds the key where the other may be missing."""
        return KeyColumns(self.maybe | other.maybe, self.covers)


@dataclass(frozen=True)
class KeyDependency(Generic[P]):
    """How the rows of a relation stand to the key, and which columns hold it, for each column of the key."""

    home: RowScope
    key: tuple[KeyColumns[P], ...] = ()


_KEEPS_LEFT = frozenset({JoinKind.LEFT, JoinKind.FULL, JoinKind.SEMI, JoinKind.ANTI})
_KEEPS_RIGHT = frozenset({JoinKind.RIGHT, JoinKind.FULL})


def join_dependencies(
    left: KeyDependency[P],
    right: KeyDependency[P],
    kind: JoinKind,
    equal: Sequence[Equal[P]],
    names: tuple[str, str],
    key: str,
) -> KeyDependency[P]:
    """Return how the rows of a join stand to the key; `equal` says what its condition holds equal."""
    if left.home is RowScope.EVERYWHERE and right.home is RowScope.EVERYWHERE:
        return left
    if RowScope.EVERYWHERE in (left.home, right.home):
        return _with_everywhere(left, right, kind, names)
    pairs = [_held_equal(equal, one, other) for one, other in zip(left.key, right.key, strict=True)]
    together = all(pair is not None for pair in pairs)
    if not together and not (left.home is right.home is RowScope.AROUND):
        raise KeysMixed(f"it joins {names[0]} and {names[1]} without comparing {key} of both")
    home = RowScope.AROUND if RowScope.AROUND in (left.home, right.home) else RowScope.ONE_KEY
    sides = zip(left.key, right.key, pairs, strict=True)
    return KeyDependency(home, tuple(_both(one, other, kind, pair) for one, other, pair in sides))


@dataclass(frozen=True)
class Equal(Generic[P]):
    """Two values that a condition holds equal, each by the columns it is the first value of."""

    one: frozenset[P]
    other: frozenset[P]
    is_null_safe: bool = False

    def turned(self) -> Equal[P]:
        """Return it from the other side."""
        return Equal(self.other, self.one, self.is_null_safe)


def _held_equal(equal: Sequence[Equal[P]], left: KeyColumns[P], right: KeyColumns[P]) -> Equal[P] | None:
    """Return what holds the key of both sides equal; a value that may be missing is equal to nothing but by <=>."""
    for pair in (item for one in equal for item in (one, one.turned())):
        if pair.is_null_safe and left.is_by(pair.one) and right.is_by(pair.other):
            return pair
        if not pair.is_null_safe and left.may_be_by(pair.one) and right.may_be_by(pair.other):
            return pair
    return None


def _both(left: KeyColumns[P], right: KeyColumns[P], kind: JoinKind, pair: Equal[P] | None) -> KeyColumns[P]:
    if kind is JoinKind.INNER:
        seen = frozenset({pair.one, pair.other}) if pair is not None else frozenset()
        found = left.beside(right)
        return KeyColumns(found.maybe, found.covers | seen)
    if kind is JoinKind.LEFT:
        return left.perhaps(right)
    if kind is JoinKind.RIGHT:
        return right.perhaps(left)
    return left.or_else(right) if kind is JoinKind.FULL else left


def _with_everywhere(
    left: KeyDependency[P], right: KeyDependency[P], kind: JoinKind, names: tuple[str, str]
) -> KeyDependency[P]:
    """Join with rows that are the same for every key; they must not show by themselves."""
    keeps, keyed = (_KEEPS_LEFT, right) if left.home is RowScope.EVERYWHERE else (_KEEPS_RIGHT, left)
    if kind in keeps and keyed.home is not RowScope.AROUND:
        alone = names[0] if left.home is RowScope.EVERYWHERE else names[1]
        raise KeysMixed(f"it keeps rows of {alone}, which has no key, even where no row with the key matches")
    return keyed
