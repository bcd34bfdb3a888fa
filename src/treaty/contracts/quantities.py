"""Quantities with units: 4 hours and 240 minutes are equal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_DAY = Fraction(86_400)
_YEAR = Fraction(1461, 4) * _DAY
_SECONDS: dict[str, Fraction] = {
    name: seconds
    for names, seconds in (
        ("ms millisecond milliseconds", Fraction(1, 1000)),
        ("s sec secs second seconds", Fraction(1)),
        ("m min mins minute minutes", Fraction(60)),
        ("h hr hrs hour hours", Fraction(3_600)),
        ("d day days", _DAY),
        ("w wk week weeks", 7 * _DAY),
        ("mo month months", _YEAR / 12),
        ("y yr yrs year years", _YEAR),
    )
    for name in names.split()
}
_PERCENT = frozenset({"%", "percent", "pct"})
_AMOUNT = re.compile(r"\s*(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>%|[A-Za-z]*)\s*")
_ISO = re.compile(
    r"P(?:(?P<y>[0-9]+)Y)?(?:(?P<mo>[0-9]+)M)?(?:(?P<w>[0-9]+)W)?(?:(?P<d>[0-9]+)D)?"
    r"(?:T(?:(?P<h>[0-9]+)H)?(?:(?P<m>[0-9]+)M)?(?:(?P<s>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
MAX_TEXT_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in the base unit of its dimension: seconds, percent, or the named unit itself."""

    dimension: str
    amount: Fraction

    def comparable(self, other: Quantity) -> bool:
        """Return whether two quantities have the same dimension."""
        return self.dimension == other.dimension


def parse_quantity(value: Any, unit: str | None = None) -> Quantity | None:
    """Parse a number with a unit, a text like ``4h`` or ``99.9 %``, or an ISO 8601 duration; None if it is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return _from_text(value, unit)
    try:
        return _in_base(Fraction(str(value)), unit)
    except ValueError:
        return None


def parse_seconds(value: Any, unit: str | None = None) -> Fraction | None:
    """Return a duration in seconds, or None if the value is not a duration."""
    found = parse_quantity(value, unit)
    return found.amount if found and found.dimension == "time" else None


def _from_text(text: str, unit: str | None) -> Quantity | None:
    if len(text) > MAX_TEXT_LENGTH:
        return None
    if found := _AMOUNT.fullmatch(text):
        return _in_base(Fraction(found["number"]), found["unit"] or unit)
    found = _ISO.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    total = sum((Fraction(part) * _SECONDS[name] for name, part in found.groupdict().items() if part), Fraction(0))
    return Quantity("time", total)


def _in_base(amount: Fraction, unit: str | None) -> Quantity:
    name = (unit or "").strip().lower()
    if name in _SECONDS:
        return Quantity("time", (amount * _SECONDS[name]))
    if name in _PERCENT:
        return Quantity("percent", amount)
    return Quantity(name, amount)
