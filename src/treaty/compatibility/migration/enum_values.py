"""Maps enum values between two lines, and reports values without a counterpart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treaty.compatibility.migration.casts import Cast, CastMethod
from treaty.compatibility.migration.declared_moves import DeclaredMove
from treaty.compatibility.migration.sql_types import fits, literal_sql
from treaty.compatibility.terms.comparison import distinct
from treaty.compatibility.terms.field_values import allowed_values
from treaty.contracts.model import Field
from treaty.contracts.values import abbreviate

_MAX_SHOWN_VALUES = 5


@dataclass(frozen=True, slots=True)
class MappedValue:
    """The SQL expression of a mapped value, and what may be lost."""

    sql: str
    losses: tuple[str, ...] = ()


def map_values(value: str, source: Field, target: Field, cast: Cast, move: DeclaredMove | None) -> MappedValue:
    """Map a value as declared, cast it, and replace values that the target does not allow with NULL."""
    pairs = move.values if move else ()
    where = move.where if move else ""
    rest = cast.sql(value)
    losses = [cast.loss] if cast.loss and not _covers_all(source, pairs) else []
    if pairs:
        branches = " ".join(
            f"WHEN {literal_sql(old, source, where)} THEN {literal_sql(new, target, where)}" for old, new in pairs
        )
        rest = f"CASE {value} {branches} ELSE {rest} END"
    known, allowed = allowed_values(source), allowed_values(target)
    losses += [*(move.losses if move else ()), *_losses(known, allowed, pairs)]
    if allowed is not None and _leaves_out(known, allowed, pairs, cast):
        listed = ", ".join(literal_sql(one, target, "enum") for one in allowed if one is not None and fits(one, target))
        if listed:
            rest = f"CASE WHEN {rest} IN ({listed}) THEN {rest} END"
    return MappedValue(rest, tuple(losses))


def _covers_all(source: Field, pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether every value of the source is mapped, so that no value is cast."""
    known = allowed_values(source)
    return known is not None and distinct(known) <= distinct(tuple(old for old, _ in pairs))


def _images(known: Sequence[Any], pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    leads = {(isinstance(old, bool), old): new for old, new in pairs}
    return [(value, leads.get((isinstance(value, bool), value), value)) for value in known]


def _leaves_out(
    known: tuple[Any, ...] | None, allowed: tuple[Any, ...], pairs: Sequence[tuple[Any, Any]], cast: Cast
) -> bool:
    if known is None:
        return True
    if cast.means is not CastMethod.KEEP and not pairs:
        return False  # values of another type are compared after the cast and reported as a loss
    return not distinct(tuple(image for _, image in _images(known, pairs))) <= distinct(allowed)


def _losses(
    known: tuple[Any, ...] | None, allowed: tuple[Any, ...] | None, pairs: Sequence[tuple[Any, Any]]
) -> list[str]:
    if known is None:
        if allowed is not None:
            return [f"only {_listed(allowed)} are allowed: other values become NULL"]
        return ["values that are not mapped are passed on unchanged"] if pairs else []
    losses = []
    images = _images(known, pairs)
    if allowed is not None:
        inside = distinct(allowed)
        lost = [value for value, image in images if (isinstance(image, bool), image) not in inside]
        if lost:
            losses.append(f"{_listed(lost)} {'has' if len(lost) == 1 else 'have'} no counterpart: NULL")
    merged: dict[tuple[bool, Any], list[Any]] = {}
    for value, image in images:
        merged.setdefault((isinstance(image, bool), image), []).append(value)
    losses += [
        f"{_listed(group)} become {abbreviate(image)!r}" for (_, image), group in merged.items() if len(group) > 1
    ]
    return losses


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(abbreviate(value, 30)) for value in values[:_MAX_SHOWN_VALUES])
    return shown + (f" and {len(values) - _MAX_SHOWN_VALUES} more" if len(values) > _MAX_SHOWN_VALUES else "")
