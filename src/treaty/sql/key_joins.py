"""How the rows of a relation depend on the key, and what joins make of that dependency."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from treaty.sql.relations import JoinKind

P = TypeVar("P", bound=Hashable)
"""Identifies a column: by source and number, or by its number in the output."""


class RowScope(Enum):
    """Which keys a row depends on."""

    EVERYWHERE = "everywhere"
    """They do not depend on the key."""
    ONE_KEY = "one key"
    """Each depends on the rows of one key only."""
    AROUND = "around"
    """They depend on one key only: that of the outer row of a subquery."""


class KeysMixed(Exception):
    """A query combines rows of several keys; the message is the reason."""


@dataclass(frozen=True)
class KeyColumns(Generic[P]):
    """The columns with the value of one key column or null (`maybe`); in each set of `covers`, one is not null."""

    maybe: frozenset[P] = frozenset()
    covers: frozenset[frozenset[P]] = frozenset()

    def is_by(self, columns: frozenset[P] | None) -> bool:
        """Tell whether the first non-null value of the columns is always the value of the key."""
        return bool(columns) and columns <= self.maybe and any(cover <= columns for cover in self.covers)  # type: ignore[operator]

    def may_be_by(self, columns: frozenset[P] | None) -> bool:
        """Tell whether the first non-null value of the columns, if any, is the value of the key."""
        return bool(columns) and columns <= self.maybe  # type: ignore[operator]

    def beside(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Combine the columns of two sides that are both present."""
        return KeyColumns(self.maybe | other.maybe, self.covers | other.covers)

    def or_else(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Combine the columns of two sides of which at least one is present."""
        both = frozenset(one | another for one in self.covers for another in other.covers)
        return KeyColumns(self.maybe | other.maybe, both)

    def perhaps(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Combine with the columns of another side that may be missing."""
        return KeyColumns(self.maybe | other.maybe, self.covers)


@dataclass(frozen=True)
class KeyDependency(Generic[P]):
    """Which keys the rows of a relation depend on, and the columns that contain each key column."""

    home: RowScope
    key: tuple[KeyColumns[P], ...] = ()


_KEEPS_LEFT = frozenset({JoinKind.LEFT, JoinKind.FULL, JoinKind.SEMI, JoinKind.ANTI})
_KEEPS_RIGHT = frozenset({JoinKind.RIGHT, JoinKind.FULL})


def join_dependencies(
    left: KeyDependency[P],
    right: KeyDependency[P],
    kind: JoinKind,
    equal: Sequence[EqualColumns[P]],
    names: tuple[str, str],
    key: str,
) -> KeyDependency[P]:
    """Return the key dependency of a join; `equal` lists the columns that its condition compares."""
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
class EqualColumns(Generic[P]):
    """Two values that a condition compares with = or <=>, each as the columns it is the first non-null value of."""

    one: frozenset[P]
    other: frozenset[P]
    is_null_safe: bool = False

    def turned(self) -> EqualColumns[P]:
        """Return the comparison with its sides swapped."""
        return EqualColumns(self.other, self.one, self.is_null_safe)


def _held_equal(equal: Sequence[EqualColumns[P]], left: KeyColumns[P], right: KeyColumns[P]) -> EqualColumns[P] | None:
    """Return the comparison that makes the keys of both sides equal, if any; only <=> compares nulls as equal."""
    for pair in (item for one in equal for item in (one, one.turned())):
        if pair.is_null_safe and left.is_by(pair.one) and right.is_by(pair.other):
            return pair
        if not pair.is_null_safe and left.may_be_by(pair.one) and right.may_be_by(pair.other):
            return pair
    return None


def _both(left: KeyColumns[P], right: KeyColumns[P], kind: JoinKind, pair: EqualColumns[P] | None) -> KeyColumns[P]:
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
    """Join with rows that are the same for every key; they must not appear without a matching row."""
    keeps, keyed = (_KEEPS_LEFT, right) if left.home is RowScope.EVERYWHERE else (_KEEPS_RIGHT, left)
    if kind in keeps and keyed.home is not RowScope.AROUND:
        alone = names[0] if left.home is RowScope.EVERYWHERE else names[1]
        raise KeysMixed(f"it keeps rows of {alone}, which has no key, even where no row with the key matches")
    return keyed
