"""Results of measuring rules: counts and values per rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treaty.contracts.findings import Severity
from treaty.spark.rules import Rule, Unchecked


@dataclass(frozen=True)
class RuleMeasure:
    """The result of one rule: the number of violating rows or the measured value, and whether the rule held."""

    rule: Rule
    held: bool
    broken: int | None = None
    value: Any = None

    def as_data(self) -> dict[str, Any]:
        """Return the measure as JSON data."""
        return {
            "rule": self.rule.id,
            "kind": self.rule.kind.value,
            "field": self.rule.field or None,
            "says": self.rule.says,
            "allows": None if self.rule.allows.tolerates_none else str(self.rule.allows),
            "severity": self.rule.severity.value,
            "held": self.held,
            "rows_broken": self.broken,
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

    @property
    def quarantined(self) -> int:
        """The number of quarantined rows."""
        return self.rows - self.valid

    @property
    def breaches(self) -> tuple[RuleMeasure, ...]:
        """The rules of severity error that did not hold."""
        return tuple(item for item in self.results if not item.held and item.rule.severity is Severity.ERROR)

    @property
    def failures(self) -> tuple[RuleMeasure, ...]:
        """The breaches that quarantining rows does not resolve; they fail the run."""
        return tuple(item for item in self.breaches if not item.rule.quarantines)

    @property
    def warnings(self) -> tuple[RuleMeasure, ...]:
        """The rules below severity error that did not hold."""
        return tuple(item for item in self.results if not item.held and item.rule.severity is not Severity.ERROR)

    def broken(self, rule_id: str) -> int | None:
        """Return the number of rows that violate a rule."""
        return next((item.broken for item in self.results if item.rule.id == rule_id), None)

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
            "rules": [item.as_data() for item in self.results],
            "unchecked": [{"what": item.what, "why": item.why} for item in self.unchecked],
        }
