"""Bars of parts that stand one after the other, in hundredths of their length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_WHOLE = 100.0


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: what it is, how many, and where it is drawn."""

    name: str
    count: int
    start: float
    length: float


def stacked(counts: Mapping[str, int]) -> tuple[Part, ...]:
    """Return the parts of a bar in the order they are counted; what is not there is not drawn."""
    total = sum(counts.values())
    parts: list[Part] = []
    start = 0.0
    for name, count in counts.items():
        if count > 0:
            length = _WHOLE * count / total
            parts.append(Part(name, count, round(start, 2), round(length, 2)))
            start += length
    return tuple(parts)


def share(done: float, whole: float) -> float:
    """Return how much of a bar is filled."""
    return round(min(_WHOLE, max(0.0, _WHOLE * done / whole)), 2) if whole > 0 else _WHOLE
