"""Format measured and promised values with suitable units."""

from __future__ import annotations

from treaty.observability.measures import PERCENT, RUN, SECONDS, Bound, MeasureKind

_SIZES = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))
_SIGNS = {Bound.AT_MOST: "≤", Bound.AT_LEAST: "≥"}
_MIN_UNIT_SHARE = 1.5
_MIN_SHOWN_PERCENT, _FINE_PERCENT = 0.01, 99


def format_amount(value: float, unit: str) -> str:
    """Return a value with its unit, such as 12 min, 99.91 % or 1,204 rows."""
    if unit == SECONDS:
        return _duration(value)
    if unit == PERCENT:
        return f"< {_MIN_SHOWN_PERCENT} %" if 0 < value < _MIN_SHOWN_PERCENT else f"{_share(value)} %"
    return f"{_number(value)} {unit}".rstrip()


def format_limit(limit: float, value: float, unit: str) -> str:
    """Return the limit of a value in the unit that the value is shown in: 29.5 h is compared with 24 h, not 1 d."""
    if unit != SECONDS:
        return format_amount(limit, unit)
    size, name = _unit_of(value)
    return f"{_number(limit / size)} {name}"


def format_promise(kind: MeasureKind, value: float, unit: str | None = None) -> str:
    """Return a promise, such as ≤ 24 h or ≥ 99.5 %."""
    if kind.name == RUN:
        return "every run succeeds"
    return f"{_SIGNS[kind.bound]} {format_amount(value, kind.unit if unit is None else unit)}"


def format_measured(kind: MeasureKind, value: float, unit: str | None = None) -> str:
    """Return a measured value."""
    if kind.name == RUN:
        return "succeeded" if value >= 1 else "failed"
    return format_amount(value, kind.unit if unit is None else unit)


def _share(value: float) -> str:
    """Return a percentage; near 100 it has three decimals, which can decide whether a promise is kept."""
    places = 3 if value >= _FINE_PERCENT else 2
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def _duration(value: float) -> str:
    """Return a duration in the largest unit of which it has at least 1.5: 90 min, but 5 h; 36 h, but 4 d."""
    size, unit = _unit_of(value)
    return f"{_number(value / size)} {unit}"


def _unit_of(value: float) -> tuple[float, str]:
    for size, unit in _SIZES:
        if abs(value) >= _MIN_UNIT_SHARE * size or abs(value) == size:
            return size, unit
    return _SIZES[-1]


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
