"""What a proposed version would do to published rows: how many it would refuse, by rule and field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treaty.contracts.findings import Finding, Place, Severity

ROWS_REFUSED = "published_rows_refused"


@dataclass(frozen=True, slots=True)
class RuleImpact:
    """A rule of the proposed version that published rows violate."""

    rule: str
    field: str | None
    requirement: str
    severity: Severity
    rows: int | None
    """None for a rule on the table as a whole."""


@dataclass(frozen=True, slots=True)
class RowExample:
    """A value that violates a rule, how many rows have it, and the key of one of them; classified values are masked."""

    rule: str
    value: str | None
    rows: int
    key: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class TableImpact:
    """The rows of one published table under the proposed version; `problem` is the reason why they were not tested."""

    table: str
    published: str | None = None
    """The contract and version that the rows were published under."""
    run: int | None = None
    rows: int = 0
    refused: int = 0
    is_migrated: bool = False
    """Whether the migration path was applied to the rows first."""
    rules: tuple[RuleImpact, ...] = ()
    examples: tuple[RowExample, ...] = ()
    problem: str | None = None

    def examples_of(self, rule: str) -> tuple[RowExample, ...]:
        """Return the examples of one rule."""
        return tuple(example for example in self.examples if example.rule == rule)

    @property
    def headline(self) -> str:
        """What the version would do to the rows, in one sentence."""
        if self.problem is not None:
            return f"{self.table} was not tested: {self.problem}"
        after = " after the migration" if self.is_migrated else ""
        return f"{self.refused:,} of {self.rows:,} published rows of {self.table} would be refused{after}"

    def finding(self, version: str, place: Place) -> Finding | None:
        """Return a warning if the version would refuse rows, or if the rows could not be tested."""
        if not self.refused and self.problem is None:
            return None
        hint = None if self.problem else f"correct the rows, or relax {version} before it is registered"
        return Finding(ROWS_REFUSED, Severity.WARNING, self.headline, place=place, hint=hint)

    def as_data(self) -> dict[str, Any]:
        """Return the impact as plain data."""
        return {
            "table": self.table,
            "published": self.published,
            "run": self.run,
            "rows": self.rows,
            "refused": self.refused,
            "migrated": self.is_migrated,
            "rules": [
                {
                    "rule": impact.rule,
                    "field": impact.field,
                    "requirement": impact.requirement,
                    "severity": impact.severity.value,
                    "rows": impact.rows,
                    "examples": [
                        {"value": example.value, "rows": example.rows, "key": dict(example.key)}
                        for example in self.examples_of(impact.rule)
                    ],
                }
                for impact in self.rules
            ],
            "problem": self.problem,
        }
