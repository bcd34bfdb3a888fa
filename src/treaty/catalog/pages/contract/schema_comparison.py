"""Two schemas side by side: every field once, what it was and what it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from treaty.catalog.pages.contract.field_consumers import Readers
from treaty.catalog.pages.contract.field_history import renamed
from treaty.catalog.pages.contract.field_rules import Values
from treaty.catalog.pages.contract.schema_tree import Row, Told, trees_of
from treaty.contracts.model import Contract

_MOST_VALUES = 20
_NOTHING = Told({}, Readers(()))


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing said of a field, and whether the other side says it too."""

    text: str
    is_only_here: bool
    is_type: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """A field as one version has it."""

    name: str
    facts: tuple[Fact, ...]
    meaning: str | None
    meaning_differs: bool


@dataclass(frozen=True, slots=True)
class Pairing:
    """A field in both versions, or in one."""

    path: str
    anchor: str
    depth: int
    name: str
    state: str
    before: Side | None
    after: Side | None


def side_by_side(before: Contract, after: Contract, names: Mapping[str, str]) -> tuple[Pairing, ...]:
    """Pair the fields of two versions; names say what fields are called now."""
    old = {renamed(row.path, names): row for row in _rows(before)}
    new = {row.path: row for row in _rows(after)}
    gone: defaultdict[str | None, list[str]] = defaultdict(list)
    last: str | None = None
    for path in old:
        if path in new:
            last = path
        else:
            gone[last].append(path)
    order = [*gone[None]]
    for path in new:
        order += [path, *gone.get(path, ())]
    return tuple(_pairing(path, old.get(path), new.get(path)) for path in order)


def _rows(contract: Contract) -> Iterator[Row]:
    for tree in trees_of(contract, _NOTHING):
        yield from tree.rows


def _pairing(path: str, old: Row | None, new: Row | None) -> Pairing:
    before, after = _side(old, new), _side(new, old)
    either = new or old
    if either is None:
        raise ValueError(f"{path!r} is on neither side")
    return Pairing(path, either.anchor, either.depth, either.name, _state(before, after), before, after)


def _state(before: Side | None, after: Side | None) -> str:
    if before is None or after is None:
        return "added" if before is None else "removed"
    if before.name != after.name:
        return "renamed"
    differs = before.meaning_differs or any(one.is_only_here for one in (*before.facts, *after.facts))
    return "changed" if differs else "unchanged"


def _side(row: Row | None, other: Row | None) -> Side | None:
    if row is None:
        return None
    theirs = frozenset(_texts(other)) if other else frozenset()
    facts = [Fact(row.type, other is not None and row.type != other.type, is_type=True)]
    facts += [Fact(text, other is not None and text not in theirs) for text in _texts(row)]
    facts += _value_facts(row.values, other.values if other else None, alone=other is None)
    return Side(row.name, tuple(facts), row.meaning, other is not None and row.meaning != other.meaning)


def _texts(row: Row) -> Iterator[str]:
    yield from (rule.text for rule in (*row.rules, *row.remarks))
    for label, value in (
        ("classified", row.classification),
        ("called", row.business_name),
        ("stored as", row.stored_as),
    ):
        if value:
            yield f"{label} {value}"
    if row.is_deprecated:
        yield "deprecated"


def _value_facts(mine: Values | None, theirs: Values | None, *, alone: bool) -> Iterator[Fact]:
    """Name the values that only one side allows; those that both do are told in short."""
    if mine is None:
        return
    if alone or theirs is None:
        yield Fact(f"one of {mine.headline}", not alone)
        return
    known = frozenset(value for value, _ in theirs.items)
    here = [value for value, _ in mine.items if value not in known]
    shared = len(mine.items) - len(here)
    yield Fact(f"one of {mine.headline}" if not here else f"one of {shared} values on both sides", False)
    yield from (Fact(value, True) for value in here[:_MOST_VALUES])
    if len(here) > _MOST_VALUES:
        yield Fact(f"{len(here) - _MOST_VALUES} more values", True)
