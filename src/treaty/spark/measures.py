"""What was measured: counts and values for each rule, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treaty.contracts.findings import Severity
from treaty.spark.rules import Rule, Unchecked


@dataclass(frozen=True)
class RuleMeasure:
    """One rule, how many rows broke it (or the value it came to), and whether it held."""

    rule: Rule
    held: bool
    broken: int | None = None
    value: Any = None

    def as_data(self) -> dict[str, Any]:
        """Return the measure as JSON would say it."""
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
        """How many rows are set apart."""
        return self.rows - self.valid

    @property
    def breaches(self) -> tuple[RuleMeasure, ...]:
        """The rules of severity error that did not hold."""
        return tuple(item for item in self.results if not item.held and item.rule.severity is Severity.ERROR)

    @property
    def failures(self) -> tuple[RuleMeasure, ...]:
        """The breaches that no quarantine can mend: they fail the run."""
        return tuple(item for item in self.breaches if not item.rule.quarantines)

    @property
    def warnings(self) -> tuple[RuleMeasure, ...]:
        """The rules of lesser severity that did not hold."""
        return tuple(item for item in self.results if not item.held and item.rule.severity is not Severity.ERROR)

    def broken(self, rule_id: str) -> int | None:
        """Return how many rows broke a rule."""
        return next((item.broken for item in self.results if item.rule.id == rule_id), None)

    def as_data(self) -> dict[str, Any]:
        """Return the measures as JSON would say them."""
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
