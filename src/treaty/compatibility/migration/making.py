"""The way over from one version of a contract to another, worked out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from treaty.compatibility.migration.building import ShimBuilder
from treaty.compatibility.migration.declared import moves_of
from treaty.compatibility.migration.path import Guard, MigrationPath, ObjectPath, Shim, Way
from treaty.compatibility.pairing import pair
from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import ITEMS, MAP_VALUES, FieldPath


def migration_path(before: Contract, after: Contract, guard: Guard | None = None) -> MigrationPath:
    """Work out how each line's shape is made from the other's rows.

    Declared SQL is a stranger's: without a guard it stays as it was written, and nothing may be run.
    """
    pairs = pair(before.schema, after.schema)
    forward, back = moves_of(before, after, Way.FORWARD), moves_of(before, after, Way.BACK)
    objects = []
    for old, new in pairs.both:
        to_new = ShimBuilder(Way.FORWARD, before, old, forward, guard).shim(new, _root(after, new.name))
        to_old = ShimBuilder(Way.BACK, after, new, back, guard).shim(old, _root(before, old.name))
        objects.append(ObjectPath(old, new, to_new, to_old))
    removed, added = (tuple(one.name for one in group) for group in (pairs.removed, pairs.added))
    return MigrationPath(before, after, tuple(objects), removed, added, guard)


def narrowed(path: MigrationPath, item: ObjectPath, fields: Collection[FieldPath]) -> Shim:
    """Return the shim that serves the old shape with some of its fields only, at any depth."""
    root = _root(path.before, item.before.name)
    target = replace(item.before, properties=_kept(item.before.fields, root, fields))
    moves = moves_of(path.before, path.after, Way.BACK)
    return ShimBuilder(Way.BACK, path.after, item.after, moves, path.guard).shim(target, root)


def _kept(inside: tuple[Field, ...], parent: FieldPath, fields: Collection[FieldPath]) -> tuple[Field, ...]:
    """Keep the fields that are asked for, and of those that something inside is asked of, that."""
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
