"""Results of measuring rules: counts and values per rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treaty.contracts.findings import Severity
from treaty.spark.rules import Rule, Unchecked
from treaty.spark.semantic_measures import MeasuredValue


@dataclass(frozen=True)
class RuleMeasure:
    """The result of one rule: the number of violating rows or the measured value, and whether the rule passed."""

    rule: Rule
    passed: bool
    violating_rows: int | None = None
    value: Any = None

    def as_data(self) -> dict[str, Any]:
        """Return the measure as JSON data."""
        return {
            "rule": self.rule.id,
            "kind": self.rule.kind.value,
            "field": self.rule.field or None,
            "message": self.rule.requirement,
            "threshold": None if self.rule.threshold.tolerates_none else str(self.rule.threshold),
            "severity": self.rule.severity.value,
            "passed": self.passed,
            "violating_rows": self.violating_rows,
            "value": self.value
            if self.value is None or isinstance(self.value, (int, float, bool))
            else str(self.value),
        }


@dataclass(frozen=True)
class Measures:
    """The measures of one dataset under one contract."""

    contract: str
    version: str
    object: str
    rows: int
    valid: int
    results: tuple[RuleMeasure, ...]
    unchecked: tuple[Unchecked, ...]
    measured_at: datetime
    semantic: tuple[MeasuredValue, ...] = ()
    """The measures that the contract declares, as far as they have a value."""

    @property
    def quarantined(self) -> int:
        """The number of quarantined rows."""
        return self.rows - self.valid

    @property
    def breaches(self) -> tuple[RuleMeasure, ...]:
        """The rules of severity error that failed."""
        return tuple(result for result in self.results if not result.passed and result.rule.severity is Severity.ERROR)

    @property
    def failures(self) -> tuple[RuleMeasure, ...]:
        """The breaches that quarantining rows does not resolve; they fail the run."""
        return tuple(result for result in self.breaches if not result.rule.quarantines)

    @property
    def warnings(self) -> tuple[RuleMeasure, ...]:
        """The rules below severity error that failed."""
        return tuple(
            result for result in self.results if not result.passed and result.rule.severity is not Severity.ERROR
        )

    def violating_rows(self, rule_id: str) -> int | None:
        """Return the number of rows that violate a rule."""
        return next((result.violating_rows for result in self.results if result.rule.id == rule_id), None)

    def as_data(self) -> dict[str, Any]:
        """Return the measures as JSON data."""
        return {
            "contract": self.contract,
            "version": self.version,
            "object": self.object,
            "rows": self.rows,
            "valid": self.valid,
            "quarantined": self.quarantined,
            "measured_at": self.measured_at.isoformat(),
            "rules": [result.as_data() for result in self.results],
            "unchecked": [{"what": term.what, "why": term.why} for term in self.unchecked],
            "measures": {measured.name: measured.value for measured in self.semantic},
        }
