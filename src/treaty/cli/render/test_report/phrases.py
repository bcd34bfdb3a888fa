"""The words that every output of a test report shares."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from treaty.contracts.findings import Severity
from treaty.spark.checks import Kind
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.data_report import Outcome, TestReport, format_rows
from treaty.spark.report.samples import Sample

NO_VALUE = "null"
_AGES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_HUNDREDTH = Decimal("0.01")


def verdict(report: TestReport) -> str:
    """Say in one line whether the data keep the contract, and why not."""
    measures = report.measures
    contract = f"{measures.contract} {measures.version}"
    if report.outcome is Outcome.FAILED:
        return f"{report.data} breaks {contract}: {'; '.join(report.reasons)}"
    held, rules = sum(item.held for item in measures.results), len(measures.results)
    judged = f"{held:,} of {rules:,} rules held" if rules else "no rules to hold"
    said = f"{report.data} keeps {contract}: {format_rows(measures.rows)}, {judged}"
    return said if not report.concerns else f"{said}; {'; '.join(report.concerns)}"


def counts(report: TestReport) -> str:
    """Say how many rows are valid and how many are quarantined."""
    measures = report.measures
    apart = share(measures.quarantined, measures.rows)
    return f"{format_rows(measures.rows)}: {measures.valid:,} valid, {measures.quarantined:,} quarantined" + (
        f" ({apart})" if apart and measures.quarantined else ""
    )


def share(part: int | None, whole: int) -> str:
    """Write a part of a whole in percent: never 0 % where there is something, nor 100 % where something is missing."""
    if part is None or not whole:
        return ""
    exact = Decimal(part) * 100 / Decimal(whole)
    rounded = exact.quantize(_HUNDREDTH, ROUND_HALF_UP)
    if part and not rounded:
        return "< 0.01 %"
    if part != whole and rounded == 100:
        return "> 99.99 %"
    return f"{rounded.normalize():f} %"


def found(item: RuleMeasure) -> str:
    """Say what a rule came to: how many rows break it, or its value."""
    if item.broken is not None:
        return f"{item.broken:,}"
    if item.rule.kind is Kind.FRESHNESS:
        return "" if item.value is None else age(float(item.value))
    if item.value is None:
        return NO_VALUE
    return f"{item.value:,}" if isinstance(item.value, int) and not isinstance(item.value, bool) else str(item.value)


def asked(item: RuleMeasure) -> str:
    """Say what a rule asks for, with how much of the contrary it allows."""
    rule = item.rule
    if rule.kind is Kind.FRESHNESS:
        return rule.says
    if item.broken is None:
        return f"{rule.says}: {rule.allows}"
    return rule.says if rule.allows.tolerates_none else f"{rule.says}; rows that break it {rule.allows}"


def age(seconds: float) -> str:
    """Write a duration by its two largest units, such as 3 h 12 min."""
    if seconds < 0:
        return f"{age(-seconds)} in the future"
    left = int(seconds)
    parts: list[str] = []
    for size, unit in _AGES:
        number, left = divmod(left, size)
        if number or (unit == "s" and not parts):
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2])


def freshness(item: RuleMeasure) -> str:
    """Say how old the newest row is, and how old it may be."""
    field, asked_for = item.rule.field, item.rule.says
    if item.value is None:
        return f"newest {field}: none ({asked_for})"
    old = age(float(item.value))
    return f"newest {field}: {old}{'' if item.value < 0 else ' old'} ({asked_for})"


def weight(report: TestReport, item: RuleMeasure) -> Severity:
    """Say how much a result weighs: what holds is information, and only what fails the test is an error."""
    if item.held:
        return Severity.INFO
    return Severity.ERROR if report.fails(item) else Severity.WARNING


def key_of(sample: Sample) -> str:
    """Write the key of a sample's row."""
    return ", ".join(f"{name} {NO_VALUE if value is None else value}" for name, value in sample.key)


def next_steps(report: TestReport) -> Iterator[str]:
    """Say how to go on."""
    measures = report.measures
    if not measures.rows:
        yield "check the path and the options: there are no rows"
    if report.quarantine is not None and report.quarantine.rows:
        yield f"read {report.quarantine.path} as parquet: _violations says of each row what it breaks"
    elif measures.quarantined:
        yield "keep every bad row with its reasons: add --quarantine PATH"
    if any(item.severity is Severity.ERROR for item in report.drift):
        yield "if the data are right, change the contract; treaty diff says what that breaks"
    if report.notable and not report.passed:
        yield "let a rule only count: --severity RULE=warning; let a share be quarantined: --max-quarantined 0.1%"
