"""A test report as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.cli.render.markdown import code, escaped, table
from treaty.cli.render.test_report import Held, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import Outcome, TestReport
from treaty.spark.report.data_report import format_rows

_MARKS = {Outcome.PASSED: "✅", Outcome.WARNED: "⚠️", Outcome.FAILED: "❌"}
_SEVERITY_MARKS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "✓"}
_MOST = 20


def draw(report: TestReport, held: Held) -> str:
    """Return the report as Markdown."""
    return "\n\n".join(part for part in _parts(report, held) if part) + "\n"


def _parts(report: TestReport, held: Held) -> Iterator[str]:
    measures = report.measures
    title = f"{code(measures.contract)} {code(measures.version)}"
    yield f"### {_MARKS[report.outcome]} {title} on {code(report.data)}"
    yield f"**{escaped(report.outcome.value)}**: {escaped(phrases.counts(report))}"
    yield "\n".join(f"- {escaped(one)}" for one in (*report.reasons, *report.concerns))
    told = report.notable + (report.unbroken if held is Held.LISTED else ())
    yield _rules(report, told[:_MOST] if held is Held.SUMMED else told)
    yield _rest(report, len(told), held)
    yield _drift(report)
    yield _samples(report)
    notes = [f"{escaped(one.what)} is unchecked: {escaped(one.why)}" for one in measures.unchecked]
    notes += [escaped(phrases.freshness(item)) for item in report.freshness]
    if report.quarantine is not None:
        notes.append(f"{format_rows(report.quarantine.rows)} in quarantine at {code(report.quarantine.path)}")
    yield "\n".join(f"- {note}" for note in notes)


def _rules(report: TestReport, told: tuple[RuleMeasure, ...]) -> str:
    if not told:
        return ""
    rows = [
        (
            _SEVERITY_MARKS[phrases.weight(report, item)],
            code(item.rule.id),
            phrases.found(item),
            phrases.share(item.broken, report.measures.rows) if item.broken else "",
            escaped(phrases.asked(item)),
        )
        for item in told
    ]
    return table(("", "rule", "rows or value", "share", "asks"), rows)


def _rest(report: TestReport, told: int, held: Held) -> str:
    if held is Held.LISTED:
        return ""
    more = [f"{told - _MOST:,} more are broken"] if told > _MOST else []
    count = len(report.unbroken)
    more += [f"{count:,} {'rule' if count == 1 else 'rules'} held"] if count else []
    return escaped("; ".join(more))


def _drift(report: TestReport) -> str:
    if not report.drift:
        return ""
    rows = [
        (
            _SEVERITY_MARKS[item.severity] if item.severity is not Severity.INFO else "",
            code(item.field),
            escaped(item.says),
        )
        for item in report.drift[:_MOST]
    ]
    more = f"\n\n{len(report.drift) - _MOST:,} more differences" if len(report.drift) > _MOST else ""
    return table(("", "field", "schema"), rows) + more


def _samples(report: TestReport) -> str:
    if not report.samples:
        return ""
    rows = [
        (
            code(one.rule),
            escaped(phrases.NO_VALUE if one.value is None else one.value),
            f"{one.rows:,}",
            escaped(phrases.key_of(one)),
        )
        for one in report.samples
    ]
    shown = table(("rule", "value", "rows", "such as the row of"), rows)
    return f"<details><summary>Worst offenders</summary>\n\n{shown}\n\n</details>"
