"""A test report as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.cli.render.markdown import code, escape_markdown, table
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.test_report import HeldRules, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import Outcome, TestReport
from treaty.spark.report.data_test import format_rows

_MARKS = {Outcome.PASSED: "✅", Outcome.WARNED: "⚠️", Outcome.FAILED: "❌"}
_SEVERITY_MARKS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "✓"}
MAX_ROWS = 20


def render(report: TestReport, held_rules: HeldRules) -> str:
    """Return the report as Markdown."""
    return "\n\n".join(part for part in _parts(report, held_rules) if part) + "\n"


def _parts(report: TestReport, held_rules: HeldRules) -> Iterator[str]:
    measures = report.measures
    title = f"{code(measures.contract)} {code(measures.version)}"
    yield f"### {_MARKS[report.outcome]} {title} on {code(report.data)}"
    yield f"**{escape_markdown(report.outcome.value)}**: {escape_markdown(phrases.counts(report))}"
    yield "\n".join(f"- {escape_markdown(reason)}" for reason in (*report.reasons, *report.concerns))
    listed = report.notable + (report.unviolated if held_rules is HeldRules.LISTED else ())
    yield _rules(report, listed[:MAX_ROWS] if held_rules is HeldRules.COUNTED else listed)
    yield _rest(report, len(listed), held_rules)
    yield _drift(report)
    yield _samples(report)
    notes = [
        f"{escape_markdown(unchecked_rule.what)} is unchecked: {escape_markdown(unchecked_rule.why)}"
        for unchecked_rule in measures.unchecked
    ]
    notes += [escape_markdown(phrases.freshness(freshness)) for freshness in report.freshness]
    if report.quarantine is not None:
        notes.append(f"{format_rows(report.quarantine.rows)} written to {code(report.quarantine.path)}")
    yield "\n".join(f"- {note}" for note in notes)


def _rules(report: TestReport, measures: tuple[RuleMeasure, ...]) -> str:
    if not measures:
        return ""
    rows = [
        (
            _SEVERITY_MARKS[phrases.severity_of(report, measure)],
            code(measure.rule.id),
            phrases.format_result(measure),
            phrases.format_share(measure.violating_rows, report.measures.rows) if measure.violating_rows else "",
            escape_markdown(phrases.format_requirement(measure)),
        )
        for measure in measures
    ]
    return table(("", "Rule", "Rows or value", "Share", "Requirement"), rows)


def _rest(report: TestReport, listed: int, held_rules: HeldRules) -> str:
    if held_rules is HeldRules.LISTED:
        return ""
    more = [f"{listed - MAX_ROWS:,} more violated"] if listed > MAX_ROWS else []
    count = len(report.unviolated)
    more += [f"{pluralize(count, 'rule')} passed"] if count else []
    return escape_markdown("; ".join(more))


def _drift(report: TestReport) -> str:
    if not report.drift:
        return ""
    rows = [
        (
            _SEVERITY_MARKS[drift.severity] if drift.severity is not Severity.INFO else "",
            code(drift.field),
            escape_markdown(drift.message),
        )
        for drift in report.drift[:MAX_ROWS]
    ]
    more = f"\n\n{len(report.drift) - MAX_ROWS:,} more differences" if len(report.drift) > MAX_ROWS else ""
    return table(("", "Field", "Difference"), rows) + more


def _samples(report: TestReport) -> str:
    if not report.samples:
        return ""
    rows = [
        (
            code(sample.rule),
            escape_markdown(phrases.NO_VALUE if sample.value is None else sample.value),
            f"{sample.rows:,}",
            escape_markdown(phrases.format_key(sample)),
        )
        for sample in report.samples
    ]
    samples_table = table(("Rule", "Value", "Rows", "Example row"), rows)
    return f"<details><summary>Most frequent violations</summary>\n\n{samples_table}\n\n</details>"
