"""The verdict on two schemas by the rules of their format: what readers of the one cannot read of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from treaty.compatibility.changes import Change, Changes, Direction
from treaty.compatibility.judge import Judged, Verdict, judge
from treaty.compatibility.kinds import fields, objects, values
from treaty.compatibility.kinds.table import DATA, READERS, Grade
from treaty.compatibility.modes import Mode
from treaty.compatibility.schemas import Party, SchemaDifference
from treaty.compatibility.semantics import Semantics
from treaty.contracts.findings import Severity
from treaty.contracts.versions import Bump

_KINDS: Mapping[str, tuple[str, Direction]] = {
    "MESSAGE_REMOVED": (objects.object_removed.id, Direction.REMOVED),
    "PROPERTY_REMOVED": (fields.field_removed.id, Direction.REMOVED),
    "REQUIRED_FIELD_REMOVED": (fields.field_removed.id, Direction.REMOVED),
    "ONEOF_FIELD_REMOVED": (fields.field_removed.id, Direction.REMOVED),
    "PROPERTY_ADDED": (fields.field_added.id, Direction.ADDED),
    "REQUIRED": (fields.field_required_added.id, Direction.ADDED),
    "FIELD_": (fields.field_type_changed.id, Direction.REPLACED),
    "TYPE_": (fields.field_type_changed.id, Direction.REPLACED),
}
"""How the type of a difference begins, and the kind of change that explains it."""
_HARMLESS = Grade(Bump.MINOR)
_OTHER = (values.field_constraint_changed.id, Direction.REPLACED)


def judge_schemas(
    changes: Changes,
    mode: Mode,
    semantics: Semantics,
    new_reader: Sequence[SchemaDifference],
    old_reader: Sequence[SchemaDifference],
) -> Verdict:
    """Judge two schemas by what readers of the new one, and of the old one, cannot read of the other.

    The changes of their contracts are listed and break nothing by themselves; the checks of the version apply only to
    contracts that state one.
    """
    verdict = judge(changes, mode)
    found = [
        *_judged(new_reader, Party.NEW, Grade(Bump.MAJOR, DATA), verdict.mode),
        *_judged(old_reader, Party.OLD, Grade(Bump.MAJOR, READERS), verdict.mode),
    ]
    harmless = (replace(item, grade=_HARMLESS, severity=Severity.INFO) for item in verdict.judged)
    required = Bump.MAJOR if found else Bump.MINOR
    return replace(
        verdict,
        judged=(*found, *harmless),
        checks=verdict.checks if verdict.after.is_versioned else (),
        required_bump=max(required, verdict.required_bump) if verdict.after.is_versioned else required,
        semantics=semantics,
    )


def _judged(differences: Sequence[SchemaDifference], reader: Party, grade: Grade, mode: Mode) -> Iterator[Judged]:
    if mode is Mode.NONE:
        severity = Severity.INFO
    else:
        severity = Severity.ERROR if grade.breaks & mode.forbids else Severity.WARNING
    for one in differences:
        kind, direction = next((kind for prefix, kind in _KINDS.items() if one.type.startswith(prefix)), _OTHER)
        change = Change(kind, direction, None, None, subject=one.path)
        yield Judged(change, grade, severity, f"{one.describe(reader)} ({one.type})")
