"""Builds migration paths: every field of one line as an expression over rows of the other line."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from treaty.compatibility.migration.casts import CastMethod, cast
from treaty.compatibility.migration.declared_moves import DeclaredMove, DeclaredMoves, read_field_moves
from treaty.compatibility.migration.defaults import apply_terms, missing_field_step
from treaty.compatibility.migration.enum_values import map_values
from treaty.compatibility.migration.path import (
    Fidelity,
    GuardedSql,
    MigrationDirection,
    MigrationPath,
    ObjectPath,
    Shim,
    SqlGuard,
    Step,
    least_faithful,
)
from treaty.compatibility.migration.sql_types import literal_sql, quote_column, stored_name, type_sql
from treaty.compatibility.pairing import pair
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.sql_quoting import quote_string
from treaty.errors import InvalidDocument

_STRUCTURES = ("STRUCT", "ARRAY", "MAP")


@dataclass(frozen=True, slots=True)
class SourceField:
    """A field of the source with its path and SQL expression."""

    field: Field
    path: FieldPath
    sql: str


@dataclass(frozen=True, slots=True)
class Parent:
    """The enclosing target path, its source field, and the depth of nested lambdas."""

    path: FieldPath
    source: SourceField | None
    lambdas: int = 0


class ShimBuilder:
    """Builds the shim of one object in one direction."""

    def __init__(
        self,
        way: MigrationDirection,
        contract: Contract,
        source: SchemaObject,
        moves: DeclaredMoves,
        guard: SqlGuard | None,
    ) -> None:
        self.way = way
        self.contract = contract
        self.source = source
        self.moves = moves
        self.guard = guard

    def shim(self, target: SchemaObject, root: FieldPath) -> Shim:
        """Return the shim that computes an object."""
        partners = {id(new): old for old, new in pair(self.source.fields, target.fields).both}
        around = Parent(root, None)
        steps = [self._field(item, self._row_field(partners.get(id(item))), around) for item in target.fields]
        return Shim(self.way, target, self.source, tuple(self._keyed(steps, target)), self.guard is not None)

    def _keyed(self, steps: list[Step], target: SchemaObject) -> Iterator[Step]:
        """Mark key fields as lossy if the key of the source does not guarantee that they are unique."""
        keys = [step for step in steps if step.field.primary_key]
        exact = {source for step in keys if step.fidelity is Fidelity.EXACT for source in step.sources}
        needed = {found.path for item in self.source.fields if item.primary_key and (found := self._row_field(item))}
        shared = bool(keys) and (not needed or not needed <= exact)
        key = ", ".join(self.source.primary_key) or "none"
        for step in steps:
            if shared and step.field.primary_key and step.fidelity is Fidelity.EXACT:
                reasons = (*step.reasons, f"the source key is {key}: several rows may have the same key")
                step = replace(step, fidelity=Fidelity.LOSSY, reasons=reasons)
            yield step

    def _row_field(self, field: Field | None) -> SourceField | None:
        if field is None:
            return None
        root = FieldPath(object=self.source.name if len(self.contract.schema) > 1 else None)
        return SourceField(field, root.field(field.name or ""), quote_column(stored_name(field)))

    def _field(self, target: Field, found: SourceField | None, around: Parent) -> Step:
        """Return the step of a named field."""
        path = around.path.field(target.name or "")
        move = self.moves.of(path)
        if move is not None and move.sql is not None:
            return self._declared(target, path, move, around)
        if move is not None and move.source is not None:
            found = self._reached(move.source, move, around)
        return self._noted(self._made(target, path, found, move, around), move)

    def _made(
        self, target: Field, path: FieldPath, found: SourceField | None, move: DeclaredMove | None, around: Parent
    ) -> Step:
        if found is not None:
            return self._converted(target, path, found, move, around.lambdas)
        if target.properties and self.moves.reach_into(path):
            return self._struct(target, path, None, around.lambdas)
        return missing_field_step(self.way, target, path, move)

    def _reached(self, source: FieldPath, move: DeclaredMove, around: Parent) -> SourceField:
        """Return a source field by path: in the same parent, or from the row."""
        parent = around.source
        if parent is not None and parent.path == source.parent:
            fields = parent.field.properties or ()
            name = source.steps[-1].text
            found = next((item for item in fields if item.name == name), None)
            if found is not None:
                return SourceField(found, source, f"{parent.sql}.{quote_column(stored_name(found))}")
        if any(step.is_mark for step in source.steps) or source.object not in (None, self.source.name):
            raise InvalidDocument(
                f"{move.where}: {source} cannot become {move.target}: fields inside a list or map must come from the "
                "same list or map; map the entire list with sql or back"
            )
        fields, sql = self.source.fields, ""
        for step in source.steps:
            item = next(one for one in fields if one.name == step.text)
            sql += f"{'.' if sql else ''}{quote_column(stored_name(item))}"
            fields = item.properties or ()
        return SourceField(item, source, sql)

    def _declared(self, target: Field, path: FieldPath, move: DeclaredMove, around: Parent) -> Step:
        """Return the step of a field with declared SQL; its author states whether it is exact."""
        if any(step.is_mark for step in path.steps):
            raise InvalidDocument(f"{move.where}: {path} is inside a list or map; map the entire list")
        text = move.sql or ""
        read = GuardedSql(f"({text})", self.moves.ends.get(path, ()))
        if self.guard is not None:
            read = self.guard(text, self.contract, self.source)
        want = type_sql(target)
        sql = f"{'CAST' if want.startswith(_STRUCTURES) else 'TRY_CAST'}({read.sql} AS {want})"
        reasons = () if move.exact else ("computed by SQL that is not declared exact",)
        if move.default is not None:
            sql = f"COALESCE({sql}, {literal_sql(move.default, target, move.where)})"
        fidelity = Fidelity.EXACT if move.exact else Fidelity.LOSSY
        return Step(path, target, read.fields, sql, fidelity, reasons, declared=text, note=move.note)

    def _converted(
        self, target: Field, path: FieldPath, found: SourceField, move: DeclaredMove | None, lambdas: int
    ) -> Step:
        have, want = type_sql(found.field), type_sql(target)
        if target.properties and found.field.properties:
            made = self._struct(target, path, found, lambdas)
        elif want.startswith("ARRAY") and have.startswith("ARRAY") and target.items and found.field.items:
            made = self._array(target, path, found, lambdas)
        elif want.startswith("MAP") and have.startswith("MAP") and target.map_value and found.field.map_value:
            made = self._map(target, path, found, lambdas)
        elif want.startswith(_STRUCTURES) or have.startswith(_STRUCTURES):
            made = self._other_structure(target, path, found)
        else:
            made = self._scalar(target, path, found, move)
        return apply_terms(made, found.field, move)

    def _scalar(self, target: Field, path: FieldPath, found: SourceField, move: DeclaredMove | None) -> Step:
        change = cast(found.field, target)
        if change.means is CastMethod.NOTHING and not (move and move.values):
            sql = change.sql(found.sql)
            return Step(path, target, (found.path,), sql, Fidelity.IMPOSSIBLE, (change.loss or "",))
        value = map_values(found.sql, found.field, target, change, move)
        fidelity = Fidelity.LOSSY if value.losses else Fidelity.EXACT
        kept = value.sql == found.sql
        return Step(path, target, (found.path,), value.sql, fidelity, value.losses, is_kept=kept)

    def _other_structure(self, target: Field, path: FieldPath, found: SourceField) -> Step:
        have, want = type_sql(found.field), type_sql(target)
        if have == want:
            return Step(path, target, (found.path,), found.sql, Fidelity.EXACT, is_kept=True)
        reason = f"{found.field.type} → {target.type}: no conversion exists; declare sql and back"
        return Step(path, target, (found.path,), f"CAST(NULL AS {want})", Fidelity.IMPOSSIBLE, (reason,))

    def _struct(self, target: Field, path: FieldPath, found: SourceField | None, lambdas: int) -> Step:
        children = target.properties or ()
        old = (found.field.properties or ()) if found is not None else ()
        partners = {id(new): one for one, new in pair(old, children).both}
        around = Parent(path, found, lambdas)
        inside = tuple(self._field(item, self._part(partners.get(id(item)), found), around) for item in children)
        fidelity = least_faithful(*(step.fidelity for step in inside))
        sources = (found.path,) if found is not None else tuple(one for step in inside for one in step.sources)
        if found is not None and _is_untouched(inside, children, old):
            return Step(path, target, sources, found.sql, fidelity, inside=inside, is_kept=True)
        parts = ", ".join(f"{quote_string(stored_name(step.field))}, {step.sql}" for step in inside)
        sql = f"named_struct({parts})"
        if found is not None:
            sql = f"CASE WHEN {found.sql} IS NULL THEN NULL ELSE {sql} END"
        return Step(path, target, sources, sql, fidelity, inside=inside)

    def _part(self, field: Field | None, parent: SourceField | None) -> SourceField | None:
        if field is None or parent is None:
            return None
        return SourceField(
            field, parent.path.field(field.name or ""), f"{parent.sql}.{quote_column(stored_name(field))}"
        )

    def _marked(self, target: Field, path: FieldPath, found: SourceField, lambdas: int) -> Step:
        """Return the step of an array element, map key or map value."""
        move = self.moves.of(path)
        if move is not None and (move.sql is not None or move.source not in (None, found.path)):
            raise InvalidDocument(f"{move.where}: {path} is inside a list or map; map the entire list")
        return self._noted(self._converted(target, path, found, move, lambdas), move)

    def _array(self, target: Field, path: FieldPath, found: SourceField, lambdas: int) -> Step:
        item, old = target.items or Field(), found.field.items or Field()
        name = f"e{lambdas}"
        inner = self._marked(item, path.into(ITEMS), SourceField(old, found.path.into(ITEMS), name), lambdas + 1)
        sql = found.sql if inner.is_kept else f"transform({found.sql}, {name} -> {inner.sql})"
        return Step(path, target, (found.path,), sql, inner.fidelity, inside=(inner,), is_kept=inner.is_kept)

    def _map(self, target: Field, path: FieldPath, found: SourceField, lambdas: int) -> Step:
        k, v = f"k{lambdas}", f"v{lambdas}"
        key_field, old_key = target.map_key or Field(), found.field.map_key or Field()
        value_field, old_value = target.map_value or Field(), found.field.map_value or Field()
        key_found = SourceField(old_key, found.path.into(MAP_KEYS), k)
        value_found = SourceField(old_value, found.path.into(MAP_VALUES), v)
        key = self._marked(key_field, path.into(MAP_KEYS), key_found, lambdas + 1)
        value = self._marked(value_field, path.into(MAP_VALUES), value_found, lambdas + 1)
        fidelity = least_faithful(key.fidelity, value.fidelity)
        if key.is_kept and value.is_kept:
            sql = found.sql
        elif key.is_kept:
            sql = f"transform_values({found.sql}, ({k}, {v}) -> {value.sql})"
        else:
            keys = f"transform(map_keys({found.sql}), {k} -> {key.sql})"
            values = f"transform(map_values({found.sql}), {v} -> {value.sql})"
            # a NULL or duplicate key would fail the entire query
            sound = f"forall({keys}, {k} -> {k} IS NOT NULL) AND size(array_distinct({keys})) = size({keys})"
            sql = f"CASE WHEN {sound} THEN map_from_arrays({keys}, {values}) END"
        kept = key.is_kept and value.is_kept
        return Step(path, target, (found.path,), sql, fidelity, inside=(key, value), is_kept=kept)

    @staticmethod
    def _noted(step: Step, move: DeclaredMove | None) -> Step:
        return step if move is None or move.note is None else replace(step, note=move.note)


def _is_untouched(inside: tuple[Step, ...], children: tuple[Field, ...], old: tuple[Field, ...]) -> bool:
    """Return whether a struct is unchanged: the same fields in the same order."""
    same = [stored_name(item) for item in children] == [stored_name(item) for item in old]
    return same and all(step.is_kept for step in inside)


def migration_path(before: Contract, after: Contract, guard: SqlGuard | None = None) -> MigrationPath:
    """Return how the schema of each line is computed from rows of the other line.

    Declared SQL is untrusted: without a guard it is kept as text, and the shims cannot be run.
    """
    pairs = pair(before.schema, after.schema)
    forward, back = (
        read_field_moves(before, after, MigrationDirection.FORWARD),
        read_field_moves(before, after, MigrationDirection.BACK),
    )
    objects = []
    for old, new in pairs.both:
        to_new = ShimBuilder(MigrationDirection.FORWARD, before, old, forward, guard).shim(new, _root(after, new.name))
        to_old = ShimBuilder(MigrationDirection.BACK, after, new, back, guard).shim(old, _root(before, old.name))
        objects.append(ObjectPath(old, new, to_new, to_old))
    removed, added = (tuple(one.name for one in group) for group in (pairs.removed, pairs.added))
    return MigrationPath(before, after, tuple(objects), removed, added, guard)


def shim_for_fields(path: MigrationPath, item: ObjectPath, fields: Collection[FieldPath]) -> Shim:
    """Return the shim that serves the old schema with only some of its fields, at any depth."""
    root = _root(path.before, item.before.name)
    target = replace(item.before, properties=_kept(item.before.fields, root, fields))
    moves = read_field_moves(path.before, path.after, MigrationDirection.BACK)
    return ShimBuilder(MigrationDirection.BACK, path.after, item.after, moves, path.guard).shim(target, root)


def _kept(inside: tuple[Field, ...], parent: FieldPath, fields: Collection[FieldPath]) -> tuple[Field, ...]:
    """Return the requested fields, and the parents of requested nested fields."""
    found = (_part(item, parent.field(item.name or ""), fields) for item in inside)
    return tuple(item for item in found if item is not None)


def _part(item: Field, at: FieldPath, fields: Collection[FieldPath]) -> Field | None:
    if any(field.covers(at) for field in fields):
        return item
    if not any(at.covers(field) for field in fields):
        return None
    parts: dict[str, Any] = {}
    if item.properties is not None:
        parts["properties"] = _kept(item.properties, at, fields)
    if item.items is not None:
        parts["items"] = _part(item.items, at.into(ITEMS), fields) or item.items
    if item.map_value is not None:
        parts["map_value"] = _part(item.map_value, at.into(MAP_VALUES), fields) or item.map_value
    return replace(item, **parts)


def _root(contract: Contract, name: str) -> FieldPath:
    return FieldPath(object=name if len(contract.schema) > 1 else None)
