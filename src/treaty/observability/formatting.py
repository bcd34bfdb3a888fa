"""Measures in words: an amount in the unit that fits, and a promise as people say it."""

from __future__ import annotations

from treaty.observability.measures import PERCENT, RUN, SECONDS, Bound, MeasureKind

_SIZES = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))
_SIGNS = {Bound.AT_MOST: "≤", Bound.AT_LEAST: "≥"}
_LONG = 1.5
_LEAST, _NEARLY_ALL = 0.01, 99


def format_amount(value: float, unit: str) -> str:
    """Write a value with its unit: 12 min, 99.91 %, 1,204 rows."""
    if unit == SECONDS:
        return _duration(value)
    if unit == PERCENT:
        return f"< {_LEAST} %" if 0 < value < _LEAST else f"{_share(value)} %"
    return f"{_number(value)} {unit}".rstrip()


def format_promise(kind: MeasureKind, value: float, unit: str | None = None) -> str:
    """Write what is promised: ≤ 24 h, ≥ 99.5 %."""
    if kind.name == RUN:
        return "every run comes through"
    return f"{_SIGNS[kind.bound]} {format_amount(value, kind.unit if unit is None else unit)}"


def format_measured(kind: MeasureKind, value: float, unit: str | None = None) -> str:
    """Write what was measured."""
    if kind.name == RUN:
        return "came through" if value >= 1 else "did not come through"
    return format_amount(value, kind.unit if unit is None else unit)


def _share(value: float) -> str:
    """Write a share; where nearly all is there, the third place tells a kept promise from a broken one."""
    places = 3 if value >= _NEARLY_ALL else 2
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def _duration(value: float) -> str:
    """Write a duration in its largest unit that leaves a number of some size: 90 min, but 5 h; 36 h, but 4 d."""
    for size, unit in _SIZES:
        if abs(value) >= _LONG * size or abs(value) == size:
            return f"{_number(value / size)} {unit}"
    return f"{_number(value)} s"


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
