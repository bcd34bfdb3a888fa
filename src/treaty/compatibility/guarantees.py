"""Comparing guarantees: ordering, delivery, latency, change policy, deprecation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.comparing import Difference, came_or_went
from treaty.compatibility.levels import LARGER, SMALLER
from treaty.compatibility.modes import Mode
from treaty.contracts.blocks import ChangePolicy, Delivery, Deprecation, Latency, Ordering
from treaty.contracts.quantities import Quantity, quantity


def ordering(before: Ordering | None, after: Ordering | None) -> Iterator[Difference]:
    """Compare ordering guarantees: by key and sequence, or none."""
    one, other = _ordering_text(before), _ordering_text(after)
    if one == other:
        return
    if one is None or other is None:
        yield Difference(Direction.TIGHTENED if one is None else Direction.LOOSENED, one, other)
    else:
        yield Difference(Direction.REPLACED, one, other)


def _ordering_text(value: Ordering | None) -> str | None:
    if value is None or not value.is_guaranteed:
        return None
    return f"by {', '.join(value.key)}" + (f" in {value.sequence}" if value.sequence else "")


def delivery(before: Delivery | None, after: Delivery | None) -> Iterator[Difference]:
    """Compare delivery guarantees: exactly once is above both others, which cannot be compared."""
    one, other = before.guarantee if before else None, after.guarantee if after else None
    if one == other:
        return
    direction = came_or_went(one, other)
    if direction is Direction.REPLACED and "exactly_once" in (one, other):
        direction = Direction.TIGHTENED if other == "exactly_once" else Direction.LOOSENED
    yield Difference(direction, one, other)


def latency(before: Latency | None, after: Latency | None) -> Iterator[Difference]:
    """Compare latency profiles: sooner, and for more of the cases, is stricter."""
    if before == after:
        return
    if before is None or after is None:
        yield Difference(came_or_went(before, after), _latency_text(before), _latency_text(after))
        return
    sooner = _way(quantity(before.within), quantity(after.within), SMALLER)
    surer = _way(before.percentile, after.percentile, LARGER)
    yield from _along(sooner, surer, before, after)


def _along(sooner: int | None, surer: int | None, before: Latency, after: Latency) -> Iterator[Difference]:
    one, other = _latency_text(before), _latency_text(after)
    if one == other or (sooner == surer == 0 and before.profile == after.profile):
        return
    direction = Direction.REPLACED
    if sooner is not None and surer is not None and sooner * surer >= 0 and sooner + surer != 0:
        direction = Direction.TIGHTENED if sooner + surer > 0 else Direction.LOOSENED
    yield Difference(direction, one, other)


def _way(before: Any, after: Any, stricter: int) -> int | None:
    """Say 1 where it got stricter, -1 looser, 0 the same, None where that cannot be told."""
    if before == after:
        return 0
    if before is None or after is None:
        return 1 if before is None else -1
    if isinstance(before, Quantity) and isinstance(after, Quantity):
        if not before.comparable(after):
            return None
        before, after = before.amount, after.amount
    return 1 if (after > before) == (stricter == LARGER) else -1


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
    """Compare change policies: a stricter mode or a longer notice tightens."""
    before, after = before or ChangePolicy(), after or ChangePolicy()
    if before.compatibility != after.compatibility:
        yield Difference(
            _mode_direction(before.compatibility, after.compatibility),
            before.compatibility,
            after.compatibility,
            "compatibility",
        )
    way = _way(quantity(before.notice), quantity(after.notice), LARGER)
    if way != 0 or (before.notice != after.notice and quantity(before.notice) is None):
        direction = {1: Direction.TIGHTENED, -1: Direction.LOOSENED}.get(way or 0, Direction.REPLACED)
        yield Difference(direction, before.notice, after.notice, "notice")


def _mode_direction(before: str | None, after: str | None) -> Direction:
    one, other = (Mode(text) if text else Mode.NONE for text in (before, after))
    if one is other:
        return came_or_went(before, after)
    if other.covers(one):
        return Direction.TIGHTENED
    return Direction.LOOSENED if one.covers(other) else Direction.REPLACED


def deprecation(before: Deprecation | None, after: Deprecation | None) -> Iterator[Difference]:
    """Compare deprecation notices by what they say."""
    if before != after:
        yield Difference(came_or_went(before, after), _notice(before), _notice(after))


def _notice(value: Deprecation | None) -> dict[str, str] | None:
    return None if value is None else {key: text for key, text in asdict(value).items() if text}
