"""Compares guarantees of a contract: ordering, delivery, latency, measures, change policy, deprecation, visibility."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.modes import Mode
from treaty.compatibility.terms.comparison import Difference, presence_direction
from treaty.compatibility.terms.service_levels import LARGER, SMALLER
from treaty.contracts.blocks import (
    Audience,
    ChangePolicy,
    Delivery,
    Deprecation,
    Latency,
    Ordering,
    SemanticMeasure,
    Target,
)
from treaty.contracts.findings import Severity
from treaty.contracts.quantities import parse_quantity
from treaty.contracts.requirements import Requirement
from treaty.contracts.values import abbreviate, thaw


def ordering(before: Ordering | None, after: Ordering | None) -> Iterator[Difference]:
    """Compare ordering guarantees: by key and sequence, explicitly none, or not stated."""
    one, other = _ordering_text(before), _ordering_text(after)
    if one == other:
        return
    if one is None:
        yield Difference(Direction.ADDED if before is None else Direction.TIGHTENED, one, other)
    elif other is None:
        yield Difference(Direction.REMOVED if after is None else Direction.LOOSENED, one, other)
    else:
        yield Difference(Direction.REPLACED, one, other)


def _ordering_text(value: Ordering | None) -> str | None:
    if value is None or not value.is_guaranteed:
        return None
    return f"by {', '.join(value.key)}" + (f" in {value.sequence}" if value.sequence else "")


def delivery(before: Delivery | None, after: Delivery | None) -> Iterator[Difference]:
    """Compare delivery guarantees: exactly once is the strongest; the other two cannot be compared."""
    one, other = before.guarantee if before else None, after.guarantee if after else None
    if one == other:
        return
    direction = presence_direction(one, other)
    if direction is Direction.REPLACED and "exactly_once" in (one, other):
        direction = Direction.TIGHTENED if other == "exactly_once" else Direction.LOOSENED
    yield Difference(direction, one, other)


_PROFILES_BY_LATENCY = ("daily", "hourly", "near_real_time", "real_time")


def latency(before: Latency | None, after: Latency | None) -> Iterator[Difference]:
    """Compare latency profiles: a shorter time or a higher percentile is stricter."""
    one, other = _latency_text(before), _latency_text(after)
    if one == other:
        return
    if before is None or after is None or one is None or other is None:
        yield Difference(presence_direction(one, other), one, other)
        return
    ways = {
        _strictness(before.within, after.within, SMALLER),
        _strictness(before.percentile, after.percentile, LARGER),
        _strictness(_rank(before.profile), _rank(after.profile), LARGER),
    }
    if ways != {0}:
        yield Difference(_DIRECTIONS.get(frozenset(ways - {0}), Direction.REPLACED), one, other)


_DIRECTIONS: dict[frozenset[int | None], Direction] = {
    frozenset({1}): Direction.TIGHTENED,
    frozenset({-1}): Direction.LOOSENED,
}


def _rank(profile: str | None) -> int | str | None:
    """Return the rank of a profile by latency, or the profile itself if it has no rank."""
    return _PROFILES_BY_LATENCY.index(profile) if profile in _PROFILES_BY_LATENCY else profile


def _strictness(before: Any, after: Any, stricter: int) -> int | None:
    """Return 1 if a promise is stricter, -1 if looser, 0 if the same, None if they cannot be compared."""
    if before == after:
        return 0
    if before is None or after is None:
        return 1 if before is None else -1
    one, other = parse_quantity(before), parse_quantity(after)
    if one is None or other is None or not one.comparable(other):
        return None
    if one.amount == other.amount:
        return 0
    return 1 if (other.amount > one.amount) == (stricter == LARGER) else -1


def _latency_text(value: Latency | None) -> str | None:
    if value is None:
        return None
    parts = [
        value.profile,
        f"within {value.within}" if value.within else None,
        f"{value.percentile:g} %" if value.percentile else None,
    ]
    return ", ".join(part for part in parts if part) or None


def change_policy(before: ChangePolicy | None, after: ChangePolicy | None) -> Iterator[Difference]:
    """Compare change policies: a stricter mode or a longer notice period tightens."""
    before, after = before or ChangePolicy(), after or ChangePolicy()
    pinned, pins = _pin(before), _pin(after)
    if pinned is not pins:
        yield Difference(
            _mode_direction(pinned, pins), before.compatibility, after.compatibility, "change_policy.compatibility"
        )
    way = _strictness(before.notice, after.notice, LARGER)
    if way != 0:
        if before.notice is None or after.notice is None:
            direction = presence_direction(before.notice, after.notice)
        else:
            direction = Direction.REPLACED if way is None else _DIRECTIONS[frozenset({way})]
        yield Difference(direction, before.notice, after.notice, "change_policy.notice")


def _pin(policy: ChangePolicy) -> Mode | None:
    """Return the pinned mode; mode `none` counts as not pinned."""
    return Mode(policy.compatibility) if policy.compatibility not in (None, Mode.NONE) else None


def _mode_direction(before: Mode | None, after: Mode | None) -> Direction:
    if before is None or after is None:
        return presence_direction(before, after)
    if after.covers(before):
        return Direction.TIGHTENED
    return Direction.LOOSENED if before.covers(after) else Direction.REPLACED


def deprecation(before: Deprecation | None, after: Deprecation | None) -> Iterator[Difference]:
    """Compare deprecations."""
    if before != after:
        yield Difference(presence_direction(before, after), _notice(before), _notice(after))


def _notice(value: Deprecation | None) -> dict[str, str] | None:
    return None if value is None else {key: text for key, text in asdict(value).items() if text}


def visibility(before: Audience | None, after: Audience | None) -> Iterator[Difference]:
    """Compare who may read a contract: fewer readers tighten, more loosen; both at once is a replacement."""
    if before == after:
        return
    one, other = str(before or "everyone"), str(after or "everyone")
    if before is None or after is None:
        yield Difference(Direction.LOOSENED if after is None else Direction.TIGHTENED, one, other)
        return
    lost, gained = before.names - after.names, after.names - before.names
    if lost and gained:
        yield Difference(Direction.REPLACED, one, other)
    elif lost or gained:
        yield Difference(Direction.TIGHTENED if lost else Direction.LOOSENED, one, other)


def measure(before: SemanticMeasure | None, after: SemanticMeasure | None) -> Iterator[Difference]:
    """Compare a semantic measure: how it is computed, its unit, and its target."""
    one, other = _measure_text(before), _measure_text(after)
    if before is None or after is None:
        if before is not after:
            yield Difference(presence_direction(before, after), one, other)
    elif _computation(before) != _computation(after):
        yield Difference(Direction.REPLACED, one, other)
    elif before.target != after.target:
        yield Difference(_target_direction(before.target, after.target), one, other)


def _computation(measure: SemanticMeasure) -> tuple[str | None, ...]:
    """Return what decides the number."""
    return measure.sql, measure.rule, measure.object, measure.unit


def _target_direction(before: Target | None, after: Target | None) -> Direction:
    if before is None or after is None:
        return Direction.TIGHTENED if before is None else Direction.LOOSENED
    if before.at_most is not None and after.at_most is not None:
        return Direction.TIGHTENED if after.at_most < before.at_most else Direction.LOOSENED
    if before.at_least is not None and after.at_least is not None:
        return Direction.TIGHTENED if after.at_least > before.at_least else Direction.LOOSENED
    return Direction.REPLACED


def _measure_text(measure: SemanticMeasure | None) -> str | None:
    return None if measure is None else abbreviate(str(measure), 120)


_SEVERITIES = {severity: rank for rank, severity in enumerate((Severity.INFO, Severity.WARNING, Severity.ERROR))}


def requirement(before: Requirement | None, after: Requirement | None) -> Iterator[Difference]:
    """Compare a rule of a policy: its severity, to how much it applies, and what it demands."""
    if before is None or after is None:
        if before is not after:
            yield Difference(presence_direction(before, after), _rule_text(before), _rule_text(after))
        return
    moves = {
        _severity_move(before, after),
        _start_move(before, after),
        _where_move(before, after),
        _must_move(before, after),
    } - {None}
    if moves:
        direction = moves.pop() if len(moves) == 1 else Direction.REPLACED
        yield Difference(direction or Direction.REPLACED, _rule_text(before), _rule_text(after))


def _severity_move(before: Requirement, after: Requirement) -> Direction | None:
    one, other = _SEVERITIES[before.severity], _SEVERITIES[after.severity]
    return None if one == other else Direction.TIGHTENED if other > one else Direction.LOOSENED


def _start_move(before: Requirement, after: Requirement) -> Direction | None:
    """Return the direction of the day from which a rule refuses: an earlier day is stricter."""
    one, other = before.start or date.min, after.start or date.min
    return None if one == other else Direction.TIGHTENED if other < one else Direction.LOOSENED


def _where_move(before: Requirement, after: Requirement) -> Direction | None:
    """Return the direction of the conditions: with fewer of them, a rule applies to more."""
    one, other = set(before.where.items()), set(after.where.items())
    if before.scope is not after.scope:
        return Direction.REPLACED
    if one == other:
        return None
    return Direction.TIGHTENED if other < one else Direction.LOOSENED if other > one else Direction.REPLACED


def _must_move(before: Requirement, after: Requirement) -> Direction | None:
    """Return the direction of the demands: with more of them, a rule is stricter."""
    one = {item for option in before.must if len(option) == 1 for item in option[0].items()}
    other = {item for option in after.must if len(option) == 1 for item in option[0].items()}
    choices = [{option for option in rule.must if len(option) > 1} for rule in (before, after)]
    if one == other and choices[0] == choices[1]:
        return None
    if one <= other and choices[0] <= choices[1]:
        return Direction.TIGHTENED
    return Direction.LOOSENED if one >= other and choices[0] >= choices[1] else Direction.REPLACED


def _rule_text(rule: Requirement | None) -> str | None:
    """Return a rule as text for messages."""
    if rule is None:
        return None
    parts = [f"{rule.severity} for a {rule.scope}"]
    parts += [f"where {abbreviate(rule.where)}"] if rule.where else []
    parts += [f"from {rule.start}"] if rule.start else []
    return abbreviate(f"{' '.join(parts)}: {json.dumps(thaw(rule.must))}", 120)
