"""Missing values: defaults, NULL or blocked fields; and terms of the target that the source does not guarantee."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from treaty.compatibility.changes import Breaks
from treaty.compatibility.kinds import kind_for
from treaty.compatibility.migration.declared_moves import DeclaredMove
from treaty.compatibility.migration.path import Fidelity, MigrationDirection, Step, least_faithful
from treaty.compatibility.migration.sql_types import fits, literal_sql, type_sql
from treaty.compatibility.terms import FIELD_TERMS
from treaty.contracts.model import Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import abbreviate, thaw
from treaty.contracts.versions import Bump


def missing_field_step(way: MigrationDirection, target: Field, path: FieldPath, move: DeclaredMove | None) -> Step:
    """Return the step for a field that the source does not have: its default, or NULL.

    NULL is a valid value of an optional field that is new. A field of the old line that is gone cannot be computed:
    its readers lose its values.
    """
    line = "old" if way is MigrationDirection.FORWARD else "new"
    default = move.default if move is not None and move.default is not None else None
    where = move.where if move is not None else f"default of {path}"
    if default is None and fits(target.treaty.get("default"), target):
        default = target.treaty["default"]
    if default is not None:
        sql = literal_sql(default, target, where)
        reason = f"the {line} line has no such field: every row gets {sql}"
        return Step(path, target, (), sql, Fidelity.LOSSY, (reason,))
    key = "default" if way is MigrationDirection.FORWARD else "back_default"
    result = f"a value is required; declare {key}" if target.is_required else "NULL"
    reason = f"the {line} line has no such field: {result}"
    is_new = way is MigrationDirection.FORWARD and not target.is_required
    fidelity = Fidelity.LOSSY if is_new else Fidelity.IMPOSSIBLE
    return Step(path, target, (), f"CAST(NULL AS {type_sql(target)})", fidelity, (reason,))


def apply_terms(step: Step, source: Field, move: DeclaredMove | None) -> Step:
    """Add the terms of the target that may be violated, and the default for rows without a value."""
    if step.fidelity is Fidelity.IMPOSSIBLE and not step.inside:
        return _with_default(step, move)
    reasons = [*step.reasons, *unmet_terms(source, step.field)]
    sql, kept = step.sql, step.is_kept
    default = move.default if move is not None else None
    may_lack = step.field.is_required and not source.is_required
    if default is None and (may_lack or (step.field.is_required and step.reasons)):
        default = step.field.treaty.get("default")
        default = default if fits(default, step.field) else None
    if default is not None:
        literal = literal_sql(default, step.field, move.where if move else f"default of {step.target}")
        sql, kept = f"COALESCE({sql}, {literal})", False
        if not source.is_required or step.reasons:
            reasons.append(f"rows without a value get {literal}")
    elif may_lack:
        reasons.append("a value is required, but rows may lack one: passed on unchanged")
    fidelity = least_faithful(step.fidelity, Fidelity.LOSSY) if reasons else step.fidelity
    return replace(step, sql=sql, reasons=tuple(reasons), fidelity=fidelity, is_kept=kept)


def _with_default(step: Step, move: DeclaredMove | None) -> Step:
    """Return the step with the declared default if the value cannot be converted."""
    if move is None or move.default is None:
        return step
    sql = literal_sql(move.default, step.field, move.where)
    return replace(step, sql=sql, fidelity=Fidelity.LOSSY, reasons=(*step.reasons, f"every row gets {sql}"))


_HANDLED_TERMS = frozenset({"field.type", "field.physical_type", "field.enum", "field.physical_name", "field.required"})
"""Terms that casts, mappings, names and defaults handle."""
_NOUNS = {
    "field.item_count": "number of items",
    "field.time_zone": "time zone",
    "field.semantic_type": "meaning",
    "definition": "definition",
    "quality": "quality rule",
    "relationship": "reference",
}


def unmet_terms(source: Field, target: Field) -> Iterator[str]:
    """Yield the terms of the target that values of the source may violate."""
    for term in FIELD_TERMS:
        if term.name in _HANDLED_TERMS:
            continue
        for difference in term.compare(term.read(source), term.read(target)):
            grade = kind_for(term.name, difference.direction).grades[difference.direction]
            if grade.bump is not Bump.MAJOR and Breaks.EXISTING_DATA not in grade.breaks:
                continue
            noun = _NOUNS.get(term.name, term.name.removeprefix("field."))
            subject = f" {difference.subject}" if difference.subject else ""
            before, after = _format_value(difference.before), _format_value(difference.after)
            yield f"{noun}{subject} {before} → {after}: passed on unchanged"


def _format_value(value: object) -> str:
    return (
        "none" if value is None else abbreviate(thaw(value), 40) if not isinstance(value, bool) else str(value).lower()
    )
