"""A test report as one self-contained HTML page without scripts, in light and dark colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from html import escape
from importlib.resources import files

from treaty.cli.render.plain_text import pluralize, printable
from treaty.cli.render.test_report import HeldRules, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import Outcome, TestReport

_CLASSES = {Outcome.PASSED: "good", Outcome.WARNED: "warning", Outcome.FAILED: "error"}
_SEVERITY_CLASSES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "good"}
_MARKS = {"error": "✗", "warning": "!", "good": "✓", "quiet": "·"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(report: TestReport, held_rules: HeldRules) -> str:
    """Return the report as a page; rules without failures are folded unless they are to be listed."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    title = f"{report.measures.contract} {report.measures.version}: {report.outcome.value}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in _parts(report, held_rules) if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _parts(report: TestReport, held_rules: HeldRules) -> Iterator[str]:
    measures = report.measures
    yield _header(report)
    yield _tiles(report)
    yield _section("Rules", _rules(report, report.notable))
    yield _section("Most frequent violations", _samples(report))
    yield _section("Schema differences", _drift(report))
    yield _section("Freshness", _list(phrases.freshness(freshness) for freshness in report.freshness))
    yield _section(
        "Unchecked", _list(f"{unchecked_rule.what}: {unchecked_rule.why}" for unchecked_rule in measures.unchecked)
    )
    if report.unviolated:
        opened = " open" if held_rules is HeldRules.LISTED else ""
        summary = f"{pluralize(len(report.unviolated), 'rule')} passed"
        yield f"<details{opened}><summary>{summary}</summary>\n{_rules(report, report.unviolated)}\n</details>"
    yield _section("Next", _list(phrases.next_steps(report)))
    yield f"<footer>{_text(f'{measures.measured_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC')}</footer>"


def _header(report: TestReport) -> str:
    measures, kind = report.measures, _CLASSES[report.outcome]
    reasons = _list((*report.reasons, *report.concerns))
    return (
        f'<header class="{kind}">\n<h1>{_MARKS[kind]} {_text(report.outcome.value)}</h1>\n'
        f"<p><b>{_text(measures.contract)}</b> {_text(measures.version)} on <code>{_text(report.data)}</code></p>\n"
        f"{reasons}\n</header>"
    )


def _tiles(report: TestReport) -> str:
    measures = report.measures
    passed = sum(result.passed for result in measures.results)
    tiles = [
        ("rows", f"{measures.rows:,}"),
        ("valid", f"{measures.valid:,}"),
        (
            "quarantined",
            f"{measures.quarantined:,} {_bracketed(phrases.format_share(measures.quarantined, measures.rows))}",
        ),
        ("rules passed", f"{passed:,} of {len(measures.results):,}"),
    ]
    if report.quarantine is not None:
        tiles.append(("quarantine", report.quarantine.path))
    return "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in tiles) + "</dl>"


def _rules(report: TestReport, measures: Iterable[RuleMeasure]) -> str:
    rows = [
        (
            _mark(_SEVERITY_CLASSES[phrases.severity_of(report, measure)]),
            f"<code>{_text(measure.rule.id)}</code>",
            _text(phrases.format_result(measure)),
            _text(phrases.format_share(measure.violating_rows, report.measures.rows) if measure.violating_rows else ""),
            _text(phrases.format_requirement(measure)),
            _text(measure.rule.severity.value),
        )
        for measure in measures
    ]
    return _table(("", "Rule", "Rows or value", "Share", "Requirement", "Severity"), rows)


def _samples(report: TestReport) -> str:
    rows = [
        (
            f"<code>{_text(sample.rule)}</code>",
            f"<i>{phrases.NO_VALUE}</i>" if sample.value is None else f"<code>{_text(sample.value)}</code>",
            f"{sample.rows:,}",
            _text(phrases.format_key(sample)),
        )
        for sample in report.samples
    ]
    return _table(("Rule", "Value", "Rows", "Example row"), rows)


def _drift(report: TestReport) -> str:
    rows = [
        (
            _mark("quiet" if drift.severity is Severity.INFO else _SEVERITY_CLASSES[drift.severity]),
            f"<code>{_text(drift.field)}</code>",
            _text(drift.message),
            _text(drift.kind),
        )
        for drift in report.drift
    ]
    return _table(("", "Field", "Difference", "Kind"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose cells carry their column's name, so that narrow screens can stack them."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    body = "\n".join(
        "<tr>" + "".join(_cell(name, cell) for name, cell in zip(header, row, strict=True)) + "</tr>" for row in rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _cell(name: str, cell: str) -> str:
    return f'<td data-name="{name}">{cell}</td>' if cell else '<td class="empty"></td>'


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>" if content else ""


def _list(items: Iterable[str]) -> str:
    listed = "\n".join(f"<li>{_text(entry)}</li>" for entry in items)
    return f"<ul>\n{listed}\n</ul>" if listed else ""


def _mark(kind: str) -> str:
    return f'<span class="{kind}" title="{kind}">{_MARKS[kind]}</span>'


def _bracketed(text: str) -> str:
    return f"({text})" if text else ""


def _text(text: str) -> str:
    return escape(printable(text))
