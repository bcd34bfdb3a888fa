"""Ways to compare two values of a term: each yields the differences, with the way they went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from treaty.compatibility.changes import Direction
from treaty.contracts.values import json_equal


@dataclass(frozen=True, slots=True)
class Difference:
    """Two values of one term, the way it went, and which of several it is."""

    direction: Direction
    before: Any
    after: Any
    subject: str | None = None


Compare: TypeAlias = Callable[[Any, Any], Iterable[Difference]]


def replaced(before: Any, after: Any) -> Iterator[Difference]:
    """Compare values that are either the same or not: added, removed or replaced."""
    if not json_equal(before, after):
        yield Difference(presence_direction(before, after), before, after)


def presence_direction(before: Any, after: Any) -> Direction:
    """Tell an addition and a removal from a replacement."""
    if before is None:
        return Direction.ADDED
    return Direction.REMOVED if after is None else Direction.REPLACED


def swapped(before: Any, after: Any) -> Iterator[Difference]:
    """Compare values where each is always there: replaced, whatever it was."""
    if not json_equal(before, after):
        yield Difference(Direction.REPLACED, before, after)


def flag(before: bool, after: bool) -> Iterator[Difference]:
    """Compare a promise that holds or not: taking it on tightens."""
    if before != after:
        yield Difference(Direction.TIGHTENED if after else Direction.LOOSENED, before, after)


def mark(before: bool, after: bool) -> Iterator[Difference]:
    """Compare a mark that is there or not."""
    if before != after:
        yield Difference(Direction.ADDED if after else Direction.REMOVED, before, after)


def value_set(before: tuple[Any, ...] | None, after: tuple[Any, ...] | None) -> Iterator[Difference]:
    """Compare lists of allowed values: fewer tightens, more loosens, both may happen at once."""
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
    """Return values as a set that tells true from 1."""
    return frozenset((isinstance(value, bool), value) for value in values)


def alternatives(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Iterator[Difference]:
    """Compare lists of texts of which each counts: more is added, fewer is removed, others replace."""
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
    """Compare things that are there or not, whatever they say."""
    if (before is None) != (after is None):
        yield Difference(presence_direction(before, after), before, after)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A lower and an upper bound, each with whether the bound itself is outside; None is no bound."""

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
    """Compare ranges: bounds that move inwards tighten, outwards loosen."""
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
    """Say whether a bound went up (1), down (-1) or stayed (0); no bound is infinitely far out."""
    (one, one_open), (other, other_open) = before, after
    outwards = 1 if above else -1
    if one is None or other is None:
        return 0 if one is other else -outwards if one is None else outwards
    if one != other:
        return 1 if _comparable(other) > _comparable(one) else -1
    return 0 if one_open == other_open else (-outwards if other_open else outwards)


def _comparable(bound: Any) -> Any:
    """Return a bound as something with an order: a number, or a date in ISO notation; other texts have none."""
    if isinstance(bound, str):
        moment = parse_instant(bound)
        if moment is None:
            raise TypeError(f"{bound!r} has no order")
        return moment
    return bound


def parse_instant(text: str) -> datetime | None:
    """Read a date or time in ISO notation; one without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def in_both(compare: Compare) -> Compare:
    """Compare mappings entry by entry where both have the entry: what came or went is another term's."""

    def entries(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
        for key in sorted(before.keys() & after.keys()):
            for difference in compare(before[key], after[key]):
                yield Difference(difference.direction, difference.before, difference.after, key)

    return entries


def keyed(compare: Compare) -> Compare:
    """Compare mappings entry by entry, naming each entry."""

    def entries(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
        for key in sorted(before.keys() | after.keys()):
            for difference in compare(before.get(key), after.get(key)):
                yield Difference(difference.direction, difference.before, difference.after, difference.subject or key)

    return entries


@dataclass(frozen=True, slots=True)
class Term:
    """One promise: how to read it, how to compare two of it, and what it rests on.

    Of a field these are the attributes of the model: the term is compared only if one of them moved. Of a contract
    they are Treaty's own blocks: what a term reads is not reported as mere metadata too.
    """

    name: str
    read: Callable[[Any], Any]
    compare: Compare
    rests_on: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
