"""What rows may lack: filled by a default, left NULL, or told to be required; and terms that hold only by luck."""

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
    """Stand in for a field that the source does not have: its default, NULL, or nothing at all."""
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
    said = f"and a value is required; declare {key}" if target.is_required else "NULL"
    reason = f"the {line} line has no such field: {said}"
    return Step(path, target, (), f"CAST(NULL AS {type_sql(target)})", Fidelity.IMPOSSIBLE, (reason,))


def apply_terms(step: Step, source: Field, move: DeclaredMove | None) -> Step:
    """Add what the target asks for beyond the type, and the default for rows without a value."""
    if step.fidelity is Fidelity.IMPOSSIBLE and not step.inside:
        return _stand_in(step, move)
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
        reasons.append("rows may lack a value, and one is required: passed on unchanged")
    fidelity = least_faithful(step.fidelity, Fidelity.LOSSY) if reasons else step.fidelity
    return replace(step, sql=sql, reasons=tuple(reasons), fidelity=fidelity, is_kept=kept)


def _stand_in(step: Step, move: DeclaredMove | None) -> Step:
    """Let a declared default stand in for what cannot be converted."""
    if move is None or move.default is None:
        return step
    sql = literal_sql(move.default, step.field, move.where)
    return replace(step, sql=sql, fidelity=Fidelity.LOSSY, reasons=(*step.reasons, f"every row gets {sql}"))


_ELSEWHERE = frozenset({"field.type", "field.physical_type", "field.enum", "field.physical_name", "field.required"})
"""Told by casts, mappings, names and defaults."""
_NOUNS = {
    "field.item_count": "number of items",
    "field.time_zone": "time zone",
    "field.semantic_type": "meaning",
    "definition": "definition",
    "quality": "quality rule",
    "relationship": "reference",
}


def unmet_terms(source: Field, target: Field) -> Iterator[str]:
    """Yield what the target asks of its values, or means by them, that holds for the source's values only by luck."""
    for term in FIELD_TERMS:
        if term.name in _ELSEWHERE:
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
