"""Differences between a legacy feed and its publication: their classes, and the result of a parallel run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from hashlib import sha256

from treaty.contracts.values import EMPTY


class DifferenceClass(StrEnum):
    """What a difference is; each has exactly one class."""

    MISSING_IN_NEW = "missing_in_new"
    MISSING_IN_LEGACY = "missing_in_legacy"
    DUPLICATE_IN_LEGACY = "duplicate_in_legacy"
    LATE = "late"
    IDENTITY = "identity"
    STATUS = "status"
    VALUE = "value"
    SCHEMA = "schema"

    @property
    def words(self) -> str:
        """What it means."""
        return _WORDS[self]


class Disposition(StrEnum):
    """What a finding turned out to be."""

    DEFECT_IN_NEW = "defect_in_new"
    DEFECT_IN_LEGACY = "defect_in_legacy"
    SEMANTIC_DISAGREEMENT = "semantic_disagreement"
    ACCEPTED = "accepted"


_WORDS = {
    DifferenceClass.MISSING_IN_NEW: "rows that only the legacy feed has",
    DifferenceClass.MISSING_IN_LEGACY: "rows that the legacy feed dropped silently",
    DifferenceClass.DUPLICATE_IN_LEGACY: "rows that the legacy feed has more than once",
    DifferenceClass.LATE: "rows that are late on one side, or booked on another day",
    DifferenceClass.IDENTITY: "the same facts under another key",
    DifferenceClass.STATUS: "a status interpreted differently",
    DifferenceClass.VALUE: "a value outside its tolerance",
    DifferenceClass.SCHEMA: "a column that only one side has, or of another type",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A difference: its key, its period, and the values of both sides as text, masked where personal data may be."""

    key: str
    period: str | None
    legacy: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """Differences of one class, column and pattern."""

    difference_class: DifferenceClass
    column: str
    """Empty for rows."""
    pattern: str
    """What the differences have in common, such as `C means CANCELLED, new has REFUNDED`."""
    count: int
    effects: Mapping[str, Decimal] = EMPTY
    """By money column: the sum of new minus legacy."""
    involved: Mapping[str, Decimal] = EMPTY
    """By money column: the sum over the rows in question."""
    examples: tuple[Example, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What identifies the finding from day to day, as long as its pattern holds."""
        named = "\x1f".join((self.difference_class.value, self.column, self.pattern))
        return sha256(named.encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        """The finding in a sentence."""
        where = f" of {self.column}" if self.column else ""
        what = f": {self.pattern}" if self.pattern else ""
        return f"{self.difference_class.words}{where}{what}"


@dataclass(frozen=True, slots=True)
class PeriodCount:
    """The number of differences of a class in a period."""

    period: date | None
    difference_class: DifferenceClass
    count: int


@dataclass(frozen=True, slots=True)
class TotalEffect:
    """The effect of all differences on one group of the declared totals."""

    group: tuple[str, ...]
    effects: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """What a parallel run found up to a day."""

    feed: str
    publication: str
    as_of: date
    legacy_rows: int
    new_rows: int
    legacy_sums: Mapping[str, Decimal]
    new_sums: Mapping[str, Decimal]
    findings: tuple[Finding, ...] = ()
    periods: tuple[PeriodCount, ...] = ()
    totals: tuple[TotalEffect, ...] = ()

    @property
    def differences(self) -> int:
        """The number of all differences."""
        return sum(finding.count for finding in self.findings)
