"""A migration path as values: how each field of one line is made from the other, and what is lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath


class Fidelity(StrEnum):
    """How well a field is made: exactly as its contract says, with something lost or made up, or not at all."""

    EXACT = "exact"
    LOSSY = "lossy"
    IMPOSSIBLE = "impossible"


RANK = {fidelity: place for place, fidelity in enumerate(Fidelity)}


def least_faithful(*found: Fidelity) -> Fidelity:
    """Return the least faithful."""
    return max(found, key=RANK.__getitem__, default=Fidelity.EXACT)


class MigrationDirection(StrEnum):
    """Which line is made from which."""

    FORWARD = "forward"
    BACK = "back"

    @property
    def meaning(self) -> str:
        """What is served, and from what."""
        return {
            MigrationDirection.FORWARD: "the new shape, from rows of the old line",
            MigrationDirection.BACK: "the old shape, from rows of the new line",
        }[self]


@dataclass(frozen=True, slots=True)
class GuardedSql:
    """SQL that somebody declared, read and written anew, and the fields it reads."""

    sql: str
    fields: tuple[FieldPath, ...]


SqlGuard: TypeAlias = Callable[[str, Contract, SchemaObject], GuardedSql]
"""Lets SQL over the rows of an object through, written anew, or refuses it."""


@dataclass(frozen=True, slots=True)
class Step:
    """How one field is made: from which fields, by which expression, how faithfully and why."""

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
        """Why it is not exact, in one line; empty where it is."""
        return "; ".join(self.reasons)

    @property
    def is_blocked(self) -> bool:
        """Whether its contract wants a value that nobody can give."""
        return self.fidelity is Fidelity.IMPOSSIBLE and self.field.is_required and not self.inside

    def walk(self) -> Iterator[Step]:
        """Yield this step and those inside it, outermost first."""
        yield self
        for step in self.inside:
            yield from step.walk()


@dataclass(frozen=True, slots=True)
class Shim:
    """One object in the shape of one line, made from rows of the other line."""

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
        """That of its worst field."""
        return least_faithful(*(step.fidelity for step in self.steps))

    @property
    def blocked(self) -> tuple[Step, ...]:
        """The fields that cannot be served although their contract wants them: no view can be made."""
        return tuple(step for step in self.walk() if step.is_blocked)

    @property
    def unread(self) -> tuple[Step, ...]:
        """The fields that rest on SQL nobody looked at: it must go through the guard before it may run."""
        return () if self.is_guarded else tuple(step for step in self.walk() if step.declared is not None)


@dataclass(frozen=True, slots=True)
class ObjectPath:
    """The way over for one table, topic or file, in both directions."""

    before: SchemaObject
    after: SchemaObject
    forward: Shim
    back: Shim

    @property
    def shims(self) -> tuple[Shim, Shim]:
        """The old shape from the new line first: that is what keeps consumers running."""
        return self.back, self.forward


@dataclass(frozen=True, slots=True)
class MigrationPath:
    """The way over from one version of a contract to another."""

    before: Contract
    after: Contract
    objects: tuple[ObjectPath, ...]
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    guard: SqlGuard | None = field(default=None, compare=False, repr=False)

    @property
    def fidelity(self) -> Fidelity:
        """How well the old shape can be served from the new line."""
        if self.removed:
            return Fidelity.IMPOSSIBLE
        return least_faithful(*(item.back.fidelity for item in self.objects))


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
