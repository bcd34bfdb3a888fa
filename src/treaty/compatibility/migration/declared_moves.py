"""The field mappings that a migration block declares, by target field and direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.compatibility.migration.path import MigrationDirection
from treaty.compatibility.migration.sql_types import value_of_text
from treaty.contracts.blocks import FieldMove
from treaty.contracts.model import Contract, Field, locate_fields
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.values import abbreviate
from treaty.errors import InvalidDocument
from treaty.suggestions import similar_names

_MAX_SUGGESTIONS = 8


@dataclass(frozen=True, slots=True)
class DeclaredMove:
    """The declared mapping of a target field; `values` maps source values to target values."""

    where: str
    target: FieldPath
    source: FieldPath | None = None
    sql: str | None = None
    default: Any = None
    values: tuple[tuple[Any, Any], ...] = ()
    exact: bool = False
    note: str | None = None
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeclaredMoves:
    """The declared mappings in one direction, by target path."""

    by_target: Mapping[FieldPath, DeclaredMove] = field(default_factory=dict)
    ends: Mapping[FieldPath, tuple[FieldPath, ...]] = field(default_factory=dict)
    """The source fields of entries with two different fields; used as inputs of SQL that is not parsed."""

    def of(self, target: FieldPath) -> DeclaredMove | None:
        """Return the mapping of a target field, or None."""
        return self.by_target.get(target)

    def reach_into(self, target: FieldPath) -> bool:
        """Return whether a mapping exists for something inside a field."""
        return any(path != target and target.covers(path) for path in self.by_target)


def read_field_moves(before: Contract, after: Contract, way: MigrationDirection) -> DeclaredMoves:
    """Read the migration block of the new contract for one direction; unknown fields are refused.

    A block that both versions have belongs to an earlier line and is ignored.
    """
    plan = after.treaty.migration
    if plan is None or not plan.fields or plan == before.treaty.migration:
        return DeclaredMoves()
    old, new = _fields_of(before), _fields_of(after)
    found: dict[FieldPath, DeclaredMove] = {}
    for number, entry in enumerate(plan.fields):
        move = _directed(entry, f"migration.fields[{number}]", way, old, new, before, after)
        if move is None:
            continue
        known = found.get(move.target)
        found[move.target] = move if known is None else _joined(known, move)
    return DeclaredMoves(found, _ends(plan.fields, way))


def _ends(entries: tuple[FieldMove, ...], way: MigrationDirection) -> dict[FieldPath, tuple[FieldPath, ...]]:
    found: dict[FieldPath, tuple[FieldPath, ...]] = {}
    for entry in entries:
        if entry.before is not None and entry.after is not None and entry.before != entry.after:
            old, new = parse_path(entry.before), parse_path(entry.after)
            target, source = (new, old) if way is MigrationDirection.FORWARD else (old, new)
            found[target] = (*found.get(target, ()), source)
    return found


def _directed(
    entry: FieldMove,
    where: str,
    way: MigrationDirection,
    old: Mapping[FieldPath, Field],
    new: Mapping[FieldPath, Field],
    before: Contract,
    after: Contract,
) -> DeclaredMove | None:
    """Return the mapping of one entry in one direction, or None if it has none."""
    forward = way is MigrationDirection.FORWARD
    target_text, source_text = (entry.after, entry.before) if forward else (entry.before, entry.after)
    sql, default = (entry.sql, entry.default) if forward else (entry.back, entry.back_default)
    renames = entry.before is not None and entry.after is not None and entry.before != entry.after
    if target_text is None or not (sql or default is not None or entry.values or (renames and not _one_way(entry))):
        return None
    targets, sources = (new, old) if forward else (old, new)
    target = _known(target_text, targets, after if forward else before, where)
    source = None
    if source_text is not None and sql is None and (renames or entry.values):
        source = _known(source_text, sources, before if forward else after, where)
    values: tuple[tuple[Any, Any], ...] = ()
    losses: tuple[str, ...] = ()
    if entry.values and source is not None:
        old_field = sources[source] if forward else targets[target]
        values = tuple((value_of_text(text, old_field), value) for text, value in entry.values.items())
        if not forward:
            values, losses = _turned(values)
    return DeclaredMove(
        where, target, source, sql, default, values, entry.exact and sql is not None, entry.note, losses
    )


def _one_way(entry: FieldMove) -> bool:
    """Return whether an entry with two fields computes one from the other with SQL, so that it is not a rename."""
    return entry.sql is not None or entry.back is not None


def _turned(pairs: tuple[tuple[Any, Any], ...]) -> tuple[tuple[tuple[Any, Any], ...], tuple[str, ...]]:
    """Invert a value mapping; if several old values have the same new value, the first one is used."""
    found: dict[tuple[bool, Any], list[Any]] = {}
    for old, new in pairs:
        found.setdefault((isinstance(new, bool), new), []).append(old)
    losses = tuple(
        f"{abbreviate(new)!r} becomes {abbreviate(olds[0])!r}, although it may have been {_one_of(olds)}"
        for (_, new), olds in found.items()
        if len(olds) > 1
    )
    return tuple((new, olds[0]) for (_, new), olds in found.items()), losses


def _one_of(values: list[Any]) -> str:
    return "any of " + ", ".join(repr(abbreviate(value)) for value in values)


def _joined(one: DeclaredMove, other: DeclaredMove) -> DeclaredMove:
    """Merge two entries for the same field, or refuse them if they conflict."""
    clash = (one.sql and other.sql) or (one.source and other.source) or (one.values and other.values)
    if clash or (one.default is not None and other.default is not None):
        raise InvalidDocument(f"{one.where} and {other.where} both map {one.target}; keep one of them")
    return DeclaredMove(
        f"{one.where} and {other.where}",
        one.target,
        one.source or other.source,
        one.sql or other.sql,
        one.default if one.default is not None else other.default,
        one.values or other.values,
        one.exact or other.exact,
        one.note or other.note,
        one.losses + other.losses,
    )


def _fields_of(contract: Contract) -> dict[FieldPath, Field]:
    return {path: item for path, item, _ in locate_fields(contract)}


def _known(text: str, fields: Mapping[FieldPath, Field], contract: Contract, where: str) -> FieldPath:
    path = parse_path(text)
    if path in fields:
        return path
    names = [str(one) for one in fields]
    close = similar_names(text, names) or names[:_MAX_SUGGESTIONS]
    version = f"{contract.id} {contract.version}"
    raise InvalidDocument(f"{where}: {abbreviate(text)!r} is not a field of {version}; its fields: {', '.join(close)}")
