"""Two publishers compared for one set of contracts: interchangeable, or the first difference with its key and field.

Required fields are facts and have to be equal, event by event. Optional fields have to have the same distribution. What
the contract leaves open may differ: the time of the event, the numbers of the sequence, and the order across keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from treaty.errors import InvalidDocument

FORMAT = "treaty.comparison/1"
_CRITICAL_Z = 3.0902
"""The quantile of the normal distribution at 99.9 %: one field in a thousand differs by chance."""
_LEAST_DISTANCE = 0.02
"""Distributions that differ by less than this share of the events are equivalent, however many events there are."""


class DifferenceKind(StrEnum):
    """How two publishers differ at a key."""

    KEY_MISSING = "key_missing"
    KEY_EXTRA = "key_extra"
    EVENT_MISSING = "event_missing"
    EVENT_EXTRA = "event_extra"
    EVENT_TYPE = "event_type"
    FIELD = "field"
    STATE = "state"
    DISTRIBUTION = "distribution"


@dataclass(frozen=True, slots=True)
class Difference:
    """Keys at which two publishers first differ in the same way, and the first of these keys."""

    kind: DifferenceKind
    count: int
    message: str
    event_type: str | None = None
    field: str | None = None
    key: str | None = None
    position: int | None = None
    """The number of the event among those of its key, from 1."""
    left: str | None = None
    right: str | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the difference as JSON data."""
        return {name: getattr(self, name) for name in self.__slots__} | {"kind": self.kind.value}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the publishers: its name, where its events came from, how many, and whether it keeps the contracts."""

    publisher: str
    source: str
    events: int
    keys: int
    failed_checks: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the publisher as JSON data."""
        return {name: getattr(self, name) for name in self.__slots__} | {"failed_checks": list(self.failed_checks)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one comparison found."""

    left: Side
    right: Side
    contracts: tuple[str, ...]
    compared_at: datetime
    differences: tuple[Difference, ...] = ()

    @property
    def interchangeable(self) -> bool:
        """Whether both keep the contracts and do not differ."""
        return not self.differences and not self.left.failed_checks and not self.right.failed_checks

    def as_data(self) -> dict[str, Any]:
        """Return the comparison as JSON data."""
        return {
            "interchangeable": self.interchangeable,
            "compared_at": self.compared_at.isoformat(),
            "left": self.left.as_data(),
            "right": self.right.as_data(),
            "contracts": list(self.contracts),
            "differences": [one.as_data() for one in self.differences],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_data` returned."""
        sides = [
            Side(**{**data[name], "failed_checks": tuple(data[name]["failed_checks"])}) for name in ("left", "right")
        ]
        differences = tuple(
            Difference(**{**entry, "kind": DifferenceKind(entry["kind"])}) for entry in data["differences"]
        )
        at = datetime.fromisoformat(data["compared_at"])
        return cls(sides[0], sides[1], tuple(data["contracts"]), at, differences)


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """All comparisons of two publishers under the same contracts, the oldest first."""

    comparisons: tuple[Comparison, ...]

    @property
    def interchangeable(self) -> bool:
        """Whether the publishers were interchangeable each time."""
        return all(one.interchangeable for one in self.comparisons)

    @property
    def last(self) -> Comparison:
        """The newest comparison."""
        return self.comparisons[-1]

    def with_comparison(self, comparison: Comparison) -> ComparisonReport:
        """Return the report with one more comparison; refuse one of other publishers or contracts."""
        if self.comparisons:
            last = self.last
            for what, before, after in (
                ("publishers", _names(last), _names(comparison)),
                ("contracts", _lines(last), _lines(comparison)),
            ):
                if before != after:
                    raise InvalidDocument(
                        f"the report is about other {what}, {' and '.join(before)}; choose another file with --report"
                    )
        return ComparisonReport((*self.comparisons, comparison))

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "format": FORMAT,
            "interchangeable": self.interchangeable,
            "comparisons": [one.as_data() for one in self.comparisons],
        }

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Read what `as_data` returned; refuse anything else."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise InvalidDocument(f"it is not a report of comparisons: it has no format {FORMAT!r}")
        try:
            return cls(tuple(map(Comparison.from_data, data["comparisons"])))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidDocument(f"it is not a complete report of comparisons: {error}") from None


def _names(comparison: Comparison) -> tuple[str, ...]:
    return (comparison.left.publisher, comparison.right.publisher)


def _lines(comparison: Comparison) -> tuple[str, ...]:
    """The lines of the contracts: a compatible version does not end a report."""
    return tuple(sorted(map(_line, comparison.contracts)))


def _line(name: str) -> str:
    contract, _, version = name.rpartition(" ")
    return f"{contract}@{version.partition('.')[0]}"


def distributions_differ(left: Sequence[int], right: Sequence[int]) -> bool:
    """Return whether two samples, counted by the same categories, differ more than by chance and by more than 2 %."""
    totals = sum(left), sum(right)
    if not all(totals):
        return any(totals)
    distance = sum(abs(one / totals[0] - other / totals[1]) for one, other in zip(left, right, strict=True)) / 2
    if distance <= _LEAST_DISTANCE:
        return False
    statistic, categories = 0.0, 0
    for one, other in zip(left, right, strict=True):
        if not one + other:
            continue
        categories += 1
        for count, total in ((one, totals[0]), (other, totals[1])):
            expected = (one + other) * total / sum(totals)
            statistic += (count - expected) ** 2 / expected
    return categories > 1 and statistic > _critical_value(categories - 1)


def _critical_value(degrees: int) -> float:
    """The 99.9 % quantile of the chi-squared distribution, as Wilson and Hilferty approximate it."""
    share = 2 / (9 * degrees)
    return float(degrees * (1 - share + _CRITICAL_Z * share**0.5) ** 3)
