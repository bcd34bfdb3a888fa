"""Semantics: the rules by which readers and data of two versions meet.

A contract is judged by its own table of kinds. A named profile replaces some of those grades by the rules of a format,
for example the resolution of a reader's schema against a writer's schema in Avro.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds import fields, values
from treaty.compatibility.kinds.table import DATA, READERS, Grade
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument


class Semantics(StrEnum):
    """How changes are graded: by the table of kinds, or by the rules of a format."""

    CONTRACT = "contract"
    AVRO = "avro"
    PROTOBUF = "protobuf"
    JSON_SCHEMA = "json-schema"

    @property
    def compares_schemas(self) -> bool:
        """Whether the schemas themselves are compared, as a schema registry does; see `schema_verdict`."""
        return self in (Semantics.PROTOBUF, Semantics.JSON_SCHEMA)

    def regrade(self, change: Change) -> Regraded | None:
        """Return the grade and message of a change under these semantics; None if the table of kinds decides."""
        if self.compares_schemas:
            raise InvalidDocument(f"{self} compares schemas, not contracts; use judge_schemas")
        rule = _PROFILES[self].get((change.kind, change.direction))
        return None if rule is None else rule(change)


@dataclass(frozen=True, slots=True)
class Regraded:
    """The grade of a change under the rules of a format, and the message that gives the reason."""

    grade: Grade
    message: str


def parse_semantics(text: str) -> Semantics:
    """Parse the name of a profile, ignoring case."""
    try:
        return Semantics(text.lower())
    except ValueError:
        raise InvalidDocument(f"unknown semantics {text!r}; use one of: {', '.join(Semantics)}") from None


_HARMLESS = Grade(Bump.MINOR)
_PROMOTIONS = frozenset(
    {
        ("integer", "number(f32)"),
        ("integer", "number"),
        ("integer(i64)", "number(f32)"),
        ("integer(i64)", "number"),
    }
)
"""Writer's type and reader's type that Avro converts, besides wider types of the same family."""
_INTERCHANGEABLE = frozenset({("string", "binary"), ("binary", "string")})


def _added(change: Change) -> Regraded:
    """A reader fills a field that the data lacks from its default; without one it fails on existing data."""
    if change.has_default:
        return Regraded(_HARMLESS, f"field {change.field!r} added with a default")
    message = f"field {change.field!r} added without a default; readers of the new schema cannot read existing data"
    return Regraded(Grade(Bump.MAJOR, DATA), message)


def _removed(change: Change) -> Regraded:
    """A new reader ignores the field in existing data; an old reader needs a default for it."""
    if change.has_default:
        return Regraded(_HARMLESS, f"field {change.field!r} removed; existing readers use its default")
    message = f"field {change.field!r} removed; existing readers have no default for it"
    return Regraded(Grade(Bump.MAJOR, READERS), message)


def _renamed(change: Change) -> Regraded:
    """A new reader finds the old name by its alias; an old reader does not know the new name."""
    message = f"field {change.before!r} renamed to {change.after!r} with an alias"
    if change.has_default:
        return Regraded(_HARMLESS, f"{message}; existing readers use the default of the old name")
    return Regraded(Grade(Bump.MAJOR, READERS), f"{message}; existing readers do not find the new name")


def _retyped(change: Change) -> Regraded:
    """A reader converts int to long, float and double, long to float and double, and text to and from bytes."""
    types = (change.before, change.after)
    message = f"field {change.field!r} type changed: {types[0]} -> {types[1]}"
    if types in _INTERCHANGEABLE:
        return Regraded(_HARMLESS, f"{message}; readers convert both ways")
    if types in _PROMOTIONS:
        return Regraded(Grade(Bump.MINOR, READERS), f"{message}; existing readers cannot convert new values")
    if types[::-1] in _PROMOTIONS:
        return Regraded(Grade(Bump.MAJOR, DATA), f"{message}; readers of the new schema cannot convert existing data")
    return Regraded(Grade(Bump.MAJOR, DATA | READERS), f"{message}; readers cannot convert between them")


def _unused(change: Change) -> Regraded:
    """A default is used only for a field that the data lacks; both versions have this one."""
    return Regraded(Grade(Bump.PATCH), f"field {change.field!r} default changed; no reader of these versions uses it")


Rule = Callable[[Change], Regraded]

_AVRO: Mapping[tuple[str, Direction], Rule] = {
    (fields.field_added.id, Direction.ADDED): _added,
    (fields.field_required_added.id, Direction.ADDED): _added,
    (fields.field_removed.id, Direction.REMOVED): _removed,
    (fields.field_renamed.id, Direction.REPLACED): _renamed,
    (fields.field_type_changed.id, Direction.REPLACED): _retyped,
    **{(values.field_default_changed.id, one): _unused for one in values.field_default_changed.grades},
}
"""The rules of Avro's schema resolution where they differ from the table of kinds."""

_PROFILES: Mapping[Semantics, Mapping[tuple[str, Direction], Rule]] = {
    Semantics.CONTRACT: {},
    Semantics.AVRO: _AVRO,
    Semantics.PROTOBUF: {},
    Semantics.JSON_SCHEMA: {},
}
