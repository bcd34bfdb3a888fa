"""Migration paths: how each field of one line is computed from the other, and what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath


class Fidelity(StrEnum):
    """How faithfully a field can be computed: exactly, with losses or defaults, or not at all."""

    EXACT = "exact"
    LOSSY = "lossy"
    IMPOSSIBLE = "impossible"


RANK = {fidelity: place for place, fidelity in enumerate(Fidelity)}


def least_faithful(*found: Fidelity) -> Fidelity:
    """Return the lowest fidelity."""
    return max(found, key=RANK.__getitem__, default=Fidelity.EXACT)


class MigrationDirection(StrEnum):
    """Which line is computed from which."""

    FORWARD = "forward"
    BACK = "back"

    @property
    def meaning(self) -> str:
        """A description of what is served, and from which rows."""
        return {
            MigrationDirection.FORWARD: "the new schema from rows of the old line",
            MigrationDirection.BACK: "the old schema from rows of the new line",
        }[self]


@dataclass(frozen=True, slots=True)
class GuardedSql:
    """Declared SQL after it was checked and rendered, and the fields it reads."""

    sql: str
    fields: tuple[FieldPath, ...]


SqlGuard: TypeAlias = Callable[[str, Contract, SchemaObject], GuardedSql]
"""Checks declared SQL over the rows of an object and renders it, or refuses it."""


@dataclass(frozen=True, slots=True)
class Step:
    """How one field is computed: its sources, expression, fidelity and losses."""

    target: FieldPath
    field: Field
    sources: tuple[FieldPath, ...]
    sql: str
    fidelity: Fidelity
    reasons: tuple[str, ...] = ()
    inside: tuple[Step, ...] = ()
    declared: str | None = None
    note: str | None = None
    is_kept: bool = False

    @property
    def reason(self) -> str:
        """Why it is not exact, in one line; empty if it is exact."""
        return "; ".join(self.reasons)

    @property
    def is_blocked(self) -> bool:
        """Whether the field is required but cannot be computed."""
        return self.fidelity is Fidelity.IMPOSSIBLE and self.field.is_required and not self.inside

    def walk(self) -> Iterator[Step]:
        """Yield this step and its nested steps, outermost first."""
        yield self
        for step in self.inside:
            yield from step.walk()


@dataclass(frozen=True, slots=True)
class Shim:
    """An object with the schema of one line, computed from rows of the other line."""

    way: MigrationDirection
    target: SchemaObject
    source: SchemaObject
    steps: tuple[Step, ...]
    is_guarded: bool

    def walk(self) -> Iterator[Step]:
        """Yield every step, at any depth, outermost first."""
        for step in self.steps:
            yield from step.walk()

    @property
    def fidelity(self) -> Fidelity:
        """The lowest fidelity of its fields."""
        return least_faithful(*(step.fidelity for step in self.steps))

    @property
    def blocked(self) -> tuple[Step, ...]:
        """The required fields that cannot be computed; if there are any, no view can be created."""
        return tuple(step for step in self.walk() if step.is_blocked)

    @property
    def unread(self) -> tuple[Step, ...]:
        """The fields with declared SQL that was not checked by a guard and must not run."""
        return () if self.is_guarded else tuple(step for step in self.walk() if step.declared is not None)


@dataclass(frozen=True, slots=True)
class ObjectPath:
    """The migration path of one table, topic or file, in both directions."""

    before: SchemaObject
    after: SchemaObject
    forward: Shim
    back: Shim

    @property
    def shims(self) -> tuple[Shim, Shim]:
        """Both shims; the one that serves the old schema, which keeps consumers running, comes first."""
        return self.back, self.forward


@dataclass(frozen=True, slots=True)
class MigrationPath:
    """The migration path from one version of a contract to another."""

    before: Contract
    after: Contract
    objects: tuple[ObjectPath, ...]
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    guard: SqlGuard | None = field(default=None, compare=False, repr=False)

    @property
    def fidelity(self) -> Fidelity:
        """How faithfully the new line can serve the old schema."""
        if self.removed:
            return Fidelity.IMPOSSIBLE
        return least_faithful(*(item.back.fidelity for item in self.objects))


def path_as_data(path: MigrationPath) -> dict[str, Any]:
    """Return a path as plain data for JSON output."""
    return {
        "before": {"id": path.before.id, "version": path.before.version},
        "after": {"id": path.after.id, "version": path.after.version},
        "fidelity": path.fidelity.value,
        "objects": [_object(item) for item in path.objects],
        "removed_objects": list(path.removed),
        "added_objects": list(path.added),
    }


def step_as_data(step: Step) -> dict[str, Any]:
    """Return a step as plain data for JSON output."""
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
