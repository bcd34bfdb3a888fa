"""A migration path as plain data."""

from __future__ import annotations

from typing import Any

from treaty.compatibility.migration.path import MigrationPath, ObjectPath, Shim, Step


def path_as_data(path: MigrationPath) -> dict[str, Any]:
    """Return a path as JSON would say it."""
    return {
        "before": {"id": path.before.id, "version": path.before.version},
        "after": {"id": path.after.id, "version": path.after.version},
        "fidelity": path.fidelity.value,
        "objects": [_object(item) for item in path.objects],
        "removed_objects": list(path.removed),
        "added_objects": list(path.added),
    }


def step_as_data(step: Step) -> dict[str, Any]:
    """Return how one field is made as JSON would say it."""
    return {
        "field": str(step.target),
        "type": str(step.field.type) if step.field.type else None,
        "from": [str(source) for source in step.sources],
        "sql": step.sql,
        "fidelity": step.fidelity.value,
        "reason": step.reason or None,
        "declared": step.declared,
        "note": step.note,
        "blocked": step.is_blocked,
    }


def _object(item: ObjectPath) -> dict[str, Any]:
    return {
        "before": item.before.name,
        "after": item.after.name,
        "back": _shim(item.back),
        "forward": _shim(item.forward),
    }


def _shim(shim: Shim) -> dict[str, Any]:
    return {"fidelity": shim.fidelity.value, "fields": [step_as_data(step) for step in shim.walk()]}
