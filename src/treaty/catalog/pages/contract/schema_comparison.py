"""Two schemas side by side, one row per field."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from treaty.catalog.pages.contract.field_consumers import FieldUsage
from treaty.catalog.pages.contract.field_history import rename_path
from treaty.catalog.pages.contract.field_rules import Values
from treaty.catalog.pages.contract.schema_tree import FieldContext, Row, schema_trees
from treaty.contracts.model import Contract

_MAX_VALUES = 20
_NO_CONTEXT = FieldContext({}, FieldUsage(()))


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of a field, and whether only this side has it."""

    text: str
    is_only_here: bool
    is_type: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """A field in one version."""

    name: str
    facts: tuple[Fact, ...]
    meaning: str | None
    meaning_differs: bool


@dataclass(frozen=True, slots=True)
class Pairing:
    """A field in one or both versions."""

    path: str
    anchor: str
    depth: int
    name: str
    state: str
    before: Side | None
    after: Side | None


def compare_schemas(before: Contract, after: Contract, names: Mapping[str, str]) -> tuple[Pairing, ...]:
    """Pair the fields of two versions. `names` maps old names of renamed fields to new ones."""
    old = {rename_path(row.path, names): row for row in _rows(before)}
    new = {row.path: row for row in _rows(after)}
    removed: defaultdict[str | None, list[str]] = defaultdict(list)
    last: str | None = None
    for path in old:
        if path in new:
            last = path
        else:
            removed[last].append(path)
    order = [*removed[None]]
    for path in new:
        order += [path, *removed.get(path, ())]
    return tuple(_pairing(path, old.get(path), new.get(path)) for path in order)


def _rows(contract: Contract) -> Iterator[Row]:
    for tree in schema_trees(contract, _NO_CONTEXT):
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
    differs = before.meaning_differs or any(fact.is_only_here for fact in (*before.facts, *after.facts))
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
    yield from (rule.text for rule in (*row.rules, *row.attributes))
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
    """Yield the values that only one side allows, and a count of the shared ones."""
    if mine is None:
        return
    if alone or theirs is None:
        yield Fact(f"one of {mine.headline}", not alone)
        return
    known = frozenset(value for value, _ in theirs.items)
    here = [value for value, _ in mine.items if value not in known]
    shared = len(mine.items) - len(here)
    yield Fact(f"one of {mine.headline}" if not here else f"{shared} shared values", False)
    yield from (Fact(value, True) for value in here[:_MAX_VALUES])
    if len(here) > _MAX_VALUES:
        yield Fact(f"{len(here) - _MAX_VALUES} more values", True)
