"""Phrases about a test report that all of its formats share."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.data_test import Outcome, TestReport, format_rows
from treaty.spark.report.samples import Sample
from treaty.spark.rules import Kind

NO_VALUE = "null"
_AGES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_HUNDREDTH = Decimal("0.01")


def verdict(report: TestReport) -> str:
    """Summarize in one line whether the data satisfies the contract."""
    measures = report.measures
    contract = f"{measures.contract} {measures.version}"
    if report.outcome is Outcome.FAILED:
        return f"{report.data} violates {contract}: {'; '.join(report.reasons)}"
    held, rules = sum(result.passed for result in measures.results), len(measures.results)
    judged = f"{held:,} of {rules:,} rules passed" if rules else "no rules"
    summary = f"{report.data} satisfies {contract}: {format_rows(measures.rows)}, {judged}"
    return summary if not report.concerns else f"{summary}; {'; '.join(report.concerns)}"


def counts(report: TestReport) -> str:
    """Return the numbers of valid and quarantined rows."""
    measures = report.measures
    apart = format_share(measures.quarantined, measures.rows)
    return f"{format_rows(measures.rows)}: {measures.valid:,} valid, {measures.quarantined:,} quarantined" + (
        f" ({apart})" if apart and measures.quarantined else ""
    )


def format_share(part: int | None, whole: int) -> str:
    """Format a share in percent: never 0 % for a non-zero part, never 100 % for an incomplete one."""
    if part is None or not whole:
        return ""
    exact = Decimal(part) * 100 / Decimal(whole)
    rounded = exact.quantize(_HUNDREDTH, ROUND_HALF_UP)
    if part and not rounded:
        return "< 0.01 %"
    if part != whole and rounded == 100:
        return "> 99.99 %"
    return f"{rounded.normalize():f} %"


def format_result(measure: RuleMeasure) -> str:
    """Return the result of a rule: the number of violating rows, or its value."""
    if measure.violating_rows is not None:
        return f"{measure.violating_rows:,}"
    if measure.rule.kind is Kind.FRESHNESS:
        return "" if measure.value is None else format_age(float(measure.value))
    if measure.value is None:
        return NO_VALUE
    return (
        f"{measure.value:,}"
        if isinstance(measure.value, int) and not isinstance(measure.value, bool)
        else str(measure.value)
    )


def format_requirement(measure: RuleMeasure) -> str:
    """Return what a rule requires, with the violations that it allows."""
    rule = measure.rule
    if rule.kind is Kind.FRESHNESS:
        return rule.requirement
    if measure.violating_rows is None:
        return f"{rule.requirement}: {rule.threshold}"
    return rule.requirement if rule.threshold.tolerates_none else f"{rule.requirement}; violating rows {rule.threshold}"


def format_age(seconds: float) -> str:
    """Format a duration in its two largest units, such as 3 h 12 min."""
    if seconds < 0:
        return f"{format_age(-seconds)} in the future"
    left = int(seconds)
    parts: list[str] = []
    for size, unit in _AGES:
        number, left = divmod(left, size)
        if number or (unit == "s" and not parts):
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2])


def freshness(measure: RuleMeasure) -> str:
    """Return the age of the newest row and the allowed age."""
    field, requirement = measure.rule.field, measure.rule.requirement
    if measure.value is None:
        return f"newest {field}: none ({requirement})"
    old = format_age(float(measure.value))
    return f"newest {field}: {old}{'' if measure.value < 0 else ' old'} ({requirement})"


def severity_of(report: TestReport, measure: RuleMeasure) -> Severity:
    """Return the severity of a result: info if the rule has no failures, error only if it fails the test."""
    if measure.passed:
        return Severity.INFO
    return Severity.ERROR if report.fails(measure) else Severity.WARNING


def format_key(sample: Sample) -> str:
    """Format the key of a sample row."""
    return ", ".join(f"{name} {NO_VALUE if value is None else value}" for name, value in sample.key)


def next_steps(report: TestReport) -> Iterator[str]:
    """Yield the next steps."""
    measures = report.measures
    if not measures.rows:
        yield "check the path and the options: no rows were read"
    if report.quarantine is not None and report.quarantine.rows:
        yield f"see the rows and why they are there: treaty quarantine show {report.quarantine.path}"
    elif measures.quarantined:
        yield "write invalid rows with their violations: add --quarantine PATH"
    if any(drift.severity is Severity.ERROR for drift in report.drift):
        yield "if the data is right, change the contract; treaty diff shows what that breaks"
    if report.notable and not report.passed:
        yield "to tolerate violations: --severity RULE=warning, or --max-quarantined 0.1%"
