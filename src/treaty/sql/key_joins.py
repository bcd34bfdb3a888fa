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
    OUTER_KEY = "outer key"
    """They depend on one key only: that of the outer row of a subquery."""


class KeysMixed(Exception):
    """A query combines rows of several keys; the message is the reason."""


@dataclass(frozen=True)
class KeyColumns(Generic[P]):
    """The columns with the value of one key column or null (`maybe`); in each set of `covers`, one is not null."""

    maybe: frozenset[P] = frozenset()
    covers: frozenset[frozenset[P]] = frozenset()

    def is_by(self, columns: frozenset[P] | None) -> bool:
        """Return whether the first non-null value of the columns is always the value of the key."""
        return bool(columns) and columns <= self.maybe and any(cover <= columns for cover in self.covers)  # type: ignore[operator]

    def may_be_by(self, columns: frozenset[P] | None) -> bool:
        """Return whether the first non-null value of the columns, if any, is the value of the key."""
        return bool(columns) and columns <= self.maybe  # type: ignore[operator]

    def beside(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Combine the columns of two sides that are both present."""
        return KeyColumns(self.maybe | other.maybe, self.covers | other.covers)

    def or_else(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Combine the columns of two sides of which at least one is present."""
        both = frozenset(cover | other_cover for cover in self.covers for other_cover in other.covers)
        return KeyColumns(self.maybe | other.maybe, both)

    def perhaps(self, other: KeyColumns[P]) -> KeyColumns[P]:
        """Combine with the columns of another side that may be missing."""
        return KeyColumns(self.maybe | other.maybe, self.covers)


@dataclass(frozen=True)
class KeyDependency(Generic[P]):
    """Which keys the rows of a relation depend on, and the columns that contain each key column."""

    scope: RowScope
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
    if left.scope is RowScope.EVERYWHERE and right.scope is RowScope.EVERYWHERE:
        return left
    if RowScope.EVERYWHERE in (left.scope, right.scope):
        return _with_everywhere(left, right, kind, names)
    pairs = [
        _key_comparison(equal, left_key, right_key) for left_key, right_key in zip(left.key, right.key, strict=True)
    ]
    together = all(pair is not None for pair in pairs)
    if not together and not (left.scope is right.scope is RowScope.OUTER_KEY):
        raise KeysMixed(f"it joins {names[0]} and {names[1]} without comparing {key} of both")
    scope = RowScope.OUTER_KEY if RowScope.OUTER_KEY in (left.scope, right.scope) else RowScope.ONE_KEY
    sides = zip(left.key, right.key, pairs, strict=True)
    return KeyDependency(
        scope, tuple(_combine_key_columns(left_key, right_key, kind, pair) for left_key, right_key, pair in sides)
    )


@dataclass(frozen=True)
class EqualColumns(Generic[P]):
    """Two values that a condition compares with = or <=>, each as the columns it is the first non-null value of."""

    left: frozenset[P]
    right: frozenset[P]
    is_null_safe: bool = False

    def swapped(self) -> EqualColumns[P]:
        """Return the comparison with its sides swapped."""
        return EqualColumns(self.right, self.left, self.is_null_safe)


def _key_comparison(
    equal: Sequence[EqualColumns[P]], left: KeyColumns[P], right: KeyColumns[P]
) -> EqualColumns[P] | None:
    """Return the comparison that makes the keys of both sides equal, if any; only <=> compares nulls as equal."""
    for pair in (candidate for comparison in equal for candidate in (comparison, comparison.swapped())):
        if pair.is_null_safe and left.is_by(pair.left) and right.is_by(pair.right):
            return pair
        if not pair.is_null_safe and left.may_be_by(pair.left) and right.may_be_by(pair.right):
            return pair
    return None


def _combine_key_columns(
    left: KeyColumns[P], right: KeyColumns[P], kind: JoinKind, pair: EqualColumns[P] | None
) -> KeyColumns[P]:
    if kind is JoinKind.INNER:
        seen = frozenset({pair.left, pair.right}) if pair is not None else frozenset()
        combined = left.beside(right)
        return KeyColumns(combined.maybe, combined.covers | seen)
    if kind is JoinKind.LEFT:
        return left.perhaps(right)
    if kind is JoinKind.RIGHT:
        return right.perhaps(left)
    return left.or_else(right) if kind is JoinKind.FULL else left


def _with_everywhere(
    left: KeyDependency[P], right: KeyDependency[P], kind: JoinKind, names: tuple[str, str]
) -> KeyDependency[P]:
    """Join with rows that are the same for every key; they must not appear without a matching row."""
    keeps, keyed = (_KEEPS_LEFT, right) if left.scope is RowScope.EVERYWHERE else (_KEEPS_RIGHT, left)
    if kind in keeps and keyed.scope is not RowScope.OUTER_KEY:
        alone = names[0] if left.scope is RowScope.EVERYWHERE else names[1]
        raise KeysMixed(f"it keeps rows of {alone}, which has no key, even where no row with the key matches")
    return keyed
