"""Compares service levels: converts units and knows which direction is stricter for each property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.comparison import Difference, parse_instant, presence_direction
from treaty.contracts.quantities import Quantity, parse_quantity
from treaty.contracts.values import abbreviate, canonical_json

SMALLER, LARGER = -1, 1
STRICTER: dict[str, int] = {
    "freshness": SMALLER,
    "latency": SMALLER,
    "errorrate": SMALLER,
    "frequency": SMALLER,
    "timetodetect": SMALLER,
    "timetonotify": SMALLER,
    "timetorepair": SMALLER,
    "generalavailability": SMALLER,
    "availability": LARGER,
    "throughput": LARGER,
    "completeness": LARGER,
    "retention": LARGER,
    "endofsupport": LARGER,
    "endoflife": LARGER,
}
"""Whether smaller or larger values are stricter."""

_SHORT_NAMES = {
    "av": "availability",
    "th": "throughput",
    "er": "errorrate",
    "ga": "generalavailability",
    "es": "endofsupport",
    "el": "endoflife",
    "re": "retention",
    "fy": "frequency",
    "ly": "latency",
    "td": "timetodetect",
    "tn": "timetonotify",
    "tr": "timetorepair",
}


@dataclass(frozen=True, slots=True)
class Level:
    """A service level: its amount, the stricter direction, its text, and its second amount (`valueExt`)."""

    amount: Quantity | str | None
    stricter: int
    text: str
    extended: Quantity | str | None = None

    def __str__(self) -> str:
        return self.text


def level_name(entry: Mapping[str, Any]) -> str:
    """Return the normalized name of a service level, with its element."""
    name = _plain_name(entry)
    element = entry.get("element")
    return f"{name}({element})" if element else name


def is_retention(entry: Mapping[str, Any]) -> bool:
    """Return whether a service level is retention, which has its own kinds."""
    return _plain_name(entry) == "retention"


def parse_level(entry: Mapping[str, Any]) -> Level:
    """Parse a service level."""
    value, extended, unit = entry.get("value"), entry.get("valueExt"), entry.get("unit")
    both = value if extended is None else f"{value} to {extended}"
    text = abbreviate(both if unit is None else f"{both} {unit}")
    return Level(_amount(value, unit), STRICTER.get(_plain_name(entry), 0), text, _amount(extended, unit))


def _amount(value: Any, unit: Any) -> Quantity | str | None:
    """Return a value as a quantity or, if it is none, as text."""
    if value is None:
        return None
    return parse_quantity(value, unit) or (value if isinstance(value, str) else canonical_json(value))


def compare_levels(before: Level | None, after: Level | None) -> Iterator[Difference]:
    """Compare two service levels, converting units."""
    if before is None or after is None:
        if before is not after:
            yield Difference(presence_direction(before, after), before and before.text, after and after.text)
        return
    moves = ((before.amount, after.amount), (before.extended, after.extended))
    directions = {_direction(one, other, after.stricter) for one, other in moves if one != other}
    if directions:
        direction = directions.pop() if len(directions) == 1 else Direction.REPLACED
        yield Difference(direction, before.text, after.text)


def _direction(before: Any, after: Any, stricter: int) -> Direction:
    if not stricter or not _comparable(before, after):
        return Direction.REPLACED
    rose = _number(after) > _number(before)
    return Direction.TIGHTENED if rose == (stricter == LARGER) else Direction.LOOSENED


def _plain_name(entry: Mapping[str, Any]) -> str:
    name = str(entry.get("property", "")).lower().replace("_", "").replace("-", "")
    return _SHORT_NAMES.get(name, name)


def _comparable(one: Any, other: Any) -> bool:
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return one.comparable(other)
    return _is_date(one) and _is_date(other)


def _is_date(amount: Any) -> bool:
    return isinstance(amount, str) and parse_instant(amount) is not None


def _number(amount: Any) -> Any:
    return amount.amount if isinstance(amount, Quantity) else parse_instant(amount)


_GRADED_IN_A_LEVEL = frozenset({"property", "value", "valueExt", "unit", "element"})


def level_annotations(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a service level that are not part of its promise."""
    return {key: value for key, value in entry.items() if key not in _GRADED_IN_A_LEVEL}
