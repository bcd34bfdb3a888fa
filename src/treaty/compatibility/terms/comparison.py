"""Terms and the functions that compare two values of a term; each yields differences with a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from treaty.compatibility.changes import Direction
from treaty.contracts.values import json_equal


@dataclass(frozen=True, slots=True)
class Difference:
    """Two values of a term, the direction of the change and, for terms with several entries, the entry."""

    direction: Direction
    before: Any
    after: Any
    subject: str | None = None


Compare: TypeAlias = Callable[[Any, Any], Iterable[Difference]]


def replaced(before: Any, after: Any) -> Iterator[Difference]:
    """Compare optional values: added, removed or replaced."""
    if not json_equal(before, after):
        yield Difference(presence_direction(before, after), before, after)


def presence_direction(before: Any, after: Any) -> Direction:
    """Return whether a value was added, removed or replaced."""
    if before is None:
        return Direction.ADDED
    return Direction.REMOVED if after is None else Direction.REPLACED


def swapped(before: Any, after: Any) -> Iterator[Difference]:
    """Compare values that always exist: replaced."""
    if not json_equal(before, after):
        yield Difference(Direction.REPLACED, before, after)


def flag(before: bool, after: bool) -> Iterator[Difference]:
    """Compare a boolean promise: making it tightens, dropping it loosens."""
    if before != after:
        yield Difference(Direction.TIGHTENED if after else Direction.LOOSENED, before, after)


def mark(before: bool, after: bool) -> Iterator[Difference]:
    """Compare a boolean mark: added or removed."""
    if before != after:
        yield Difference(Direction.ADDED if after else Direction.REMOVED, before, after)


def value_set(before: tuple[Any, ...] | None, after: tuple[Any, ...] | None) -> Iterator[Difference]:
    """Compare lists of allowed values: removing values tightens, adding values loosens; both can happen at once."""
    if before is None or after is None:
        if before is not after:
            yield Difference(presence_direction(before, after), before, after)
        return
    old, new = distinct(before), distinct(after)
    if old - new:
        yield Difference(Direction.TIGHTENED, before, after)
    if new - old:
        yield Difference(Direction.LOOSENED, before, after)


def distinct(values: tuple[Any, ...]) -> frozenset[tuple[bool, Any]]:
    """Return values as a set that distinguishes true from 1."""
    return frozenset((isinstance(value, bool), value) for value in values)


def alternatives(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Iterator[Difference]:
    """Compare sets of texts: a superset is added, a subset is removed, anything else is replaced."""
    old, new = frozenset(before or ()), frozenset(after or ())
    if old == new:
        return
    direction = Direction.REPLACED
    if old < new:
        direction = Direction.ADDED
    elif new < old:
        direction = Direction.REMOVED
    yield Difference(direction, ", ".join(sorted(old)) or None, ", ".join(sorted(new)) or None)


def presence(before: Any, after: Any) -> Iterator[Difference]:
    """Compare only whether a value exists."""
    if (before is None) != (after is None):
        yield Difference(presence_direction(before, after), before, after)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A lower and an upper bound, each open or closed; None means unbounded."""

    low: Any = None
    low_open: bool = False
    high: Any = None
    high_open: bool = False

    def __str__(self) -> str:
        if self.low is None and self.high is None:
            return "any"
        low = "" if self.low is None else f"{'>' if self.low_open else '≥'} {self.low}"
        high = "" if self.high is None else f"{'<' if self.high_open else '≤'} {self.high}"
        return " and ".join(part for part in (low, high) if part)


def bounds(before: Bounds, after: Bounds) -> Iterator[Difference]:
    """Compare ranges: narrower tightens, wider loosens."""
    if before == after:
        return
    try:
        low = _order((before.low, before.low_open), (after.low, after.low_open))
        high = -_order((before.high, before.high_open), (after.high, after.high_open), above=True)
    except TypeError:
        yield Difference(Direction.REPLACED, str(before), str(after))
        return
    if low > 0 or high > 0:
        yield Difference(Direction.TIGHTENED, str(before), str(after))
    if low < 0 or high < 0:
        yield Difference(Direction.LOOSENED, str(before), str(after))


def _order(before: tuple[Any, bool], after: tuple[Any, bool], *, above: bool = False) -> int:
    """Return whether a bound increased (1), decreased (-1) or is the same (0); None is infinite."""
    (one, one_open), (other, other_open) = before, after
    outwards = 1 if above else -1
    if one is None or other is None:
        return 0 if one is other else -outwards if one is None else outwards
    if one != other:
        return 1 if _comparable(other) > _comparable(one) else -1
    return 0 if one_open == other_open else (-outwards if other_open else outwards)


def _comparable(bound: Any) -> Any:
    """Return a bound as a comparable value: a number or an ISO date; raises TypeError for other texts."""
    if isinstance(bound, str):
        moment = parse_instant(bound)
        if moment is None:
            raise TypeError(f"{bound!r} has no order")
        return moment
    return bound


def parse_instant(text: str) -> datetime | None:
    """Parse an ISO date or time, in UTC unless it has a time zone; None if it is neither."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def in_both(compare: Compare) -> Compare:
    """Compare the entries that both mappings have; added and removed entries belong to another term."""

    def entries(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
        for key in sorted(before.keys() & after.keys()):
            for difference in compare(before[key], after[key]):
                yield Difference(difference.direction, difference.before, difference.after, key)

    return entries


def keyed(compare: Compare) -> Compare:
    """Compare mappings entry by entry, with the key as subject."""

    def entries(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
        for key in sorted(before.keys() | after.keys()):
            for difference in compare(before.get(key), after.get(key)):
                yield Difference(difference.direction, difference.before, difference.after, difference.subject or key)

    return entries


@dataclass(frozen=True, slots=True)
class Term:
    """One promise: how to read and compare it, and the attributes or blocks it depends on.

    For a field, `depends_on` names attributes of the model: the term is compared only if one of them changed. For a
    contract, it names extension blocks, which are then not reported as metadata as well.
    """

    name: str
    read: Callable[[Any], Any]
    compare: Compare
    depends_on: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
