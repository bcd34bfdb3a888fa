"""What an audit found: the rules, how they came out, and whether that keeps rows from being published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treaty.contracts.findings import Severity
from treaty.spark.checks import Kind
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.samples import Sample
from treaty.spark.rules import Unchecked

_REPORTED_ONLY = frozenset({Kind.FRESHNESS})
"""Old rows are no worse for being published, and would be older still if they were not."""
_SHOWN = 3


@dataclass(frozen=True)
class Audit:
    """Rows under a contract before anybody sees them: what was measured, and examples of what is broken."""

    contract: str
    version: str
    rows: int
    results: tuple[RuleMeasure, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    bad_rows: int = 0
    samples: tuple[Sample, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the rows may be published."""
        return not self.blocking

    @property
    def blocking(self) -> tuple[RuleMeasure, ...]:
        """The rules that keep the rows from being published, by how many rows break them."""
        found = [item for item in self.results if not item.held and _blocks(item)]
        return tuple(sorted(found, key=lambda item: (-(item.broken or 0), item.rule.id)))

    @property
    def concerns(self) -> tuple[RuleMeasure, ...]:
        """The rules that did not hold, and stop nothing."""
        return tuple(item for item in self.results if not item.held and not _blocks(item))

    @property
    def newest_age(self) -> float | None:
        """How many seconds old the newest row is, where a rule measured it: the oldest, if several did."""
        ages = [item.value for item in self.results if item.rule.kind is Kind.FRESHNESS]
        return max((float(age) for age in ages if isinstance(age, int | float)), default=None)

    def joined(self, other: Audit) -> Audit:
        """Return both audits of the same publication as one: of its rows, and of the whole that they become."""
        return Audit(
            self.contract,
            self.version,
            other.rows if other.results else self.rows,
            self.results + other.results,
            tuple(dict.fromkeys(self.unchecked + other.unchecked)),
            self.bad_rows + other.bad_rows,
            self.samples + other.samples,
        )

    @property
    def verdict(self) -> str:
        """Say in one line whether the contract is kept."""
        what = f"{self.contract} {self.version}"
        if self.passed:
            held = sum(item.held for item in self.results)
            keep = "keeps" if self.rows == 1 else "keep"
            return f"{_counted(self.rows, 'row')} {keep} {what}: {held:,} of {_counted(len(self.results), 'rule')} held"
        return f"{what} is broken by {_counted(len(self.blocking), 'rule')}: nothing is published"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Say of each rule that blocks what it asks, how many rows break it, and by which values."""
        return tuple(self._said(item) for item in self.blocking)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Say what did not hold and stops nothing."""
        return tuple(self._said(item) for item in self.concerns)

    def as_data(self) -> dict[str, Any]:
        """Return the audit as JSON would say it."""
        return {
            "contract": self.contract,
            "version": self.version,
            "passed": self.passed,
            "rows": self.rows,
            "bad_rows": self.bad_rows,
            "rules": [item.as_data() for item in self.results],
            "samples": [item.as_data() for item in self.samples],
            "unchecked": [{"what": item.what, "why": item.why} for item in self.unchecked],
        }

    def _said(self, item: RuleMeasure) -> str:
        examples = "; ".join(self._examples(item.rule.id))
        return f"{item.rule.id}: {_came_to(item)}" + (f" ({examples})" if examples else "")

    def _examples(self, rule: str) -> Iterator[str]:
        for sample in [one for one in self.samples if one.rule == rule][:_SHOWN]:
            key = ", ".join(f"{name} {'null' if value is None else value}" for name, value in sample.key)
            value = "no value" if sample.value is None else sample.value
            yield f"{value} in the row of {key}" if key else value


def _came_to(item: RuleMeasure) -> str:
    rule = item.rule
    if rule.kind is Kind.FRESHNESS:
        return f"the newest row is {item.value:,.0f} s old; {rule.says}"
    if item.broken is None:
        return f"{rule.says} {rule.allows}, and is {'null' if item.value is None else item.value}"
    allowed = "" if rule.allows.tolerates_none else f" ({rule.allows})"
    verb = "breaks" if item.broken == 1 else "break"
    return f"{_counted(item.broken, 'row')} {verb} it: {rule.says}{allowed}"


def _blocks(item: RuleMeasure) -> bool:
    return item.rule.severity is Severity.ERROR and item.rule.kind not in _REPORTED_ONLY


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
