"""A test report as one self-contained page: no scripts, nothing fetched, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from html import escape
from importlib.resources import files

from treaty.cli.render.printable import visible
from treaty.cli.render.test_report import Held, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import Outcome, TestReport

_CLASSES = {Outcome.PASSED: "good", Outcome.WARNED: "warning", Outcome.FAILED: "error"}
_SEVERITY_CLASSES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "good"}
_MARKS = {"error": "✗", "warning": "!", "good": "✓", "quiet": "·"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def draw(report: TestReport, held: Held) -> str:
    """Return the report as a page; rules that held stand folded away, or open where they are to be listed."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    title = f"{report.measures.contract} {report.measures.version}: {report.outcome.value}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in _parts(report, held) if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _parts(report: TestReport, held: Held) -> Iterator[str]:
    measures = report.measures
    yield _header(report)
    yield _tiles(report)
    yield _section("Rules", _rules(report, report.notable))
    yield _section("Worst offenders", _samples(report))
    yield _section("Schema: what is declared, and what is there", _drift(report))
    yield _section("Freshness", _list(phrases.freshness(item) for item in report.freshness))
    yield _section("Unchecked", _list(f"{one.what}: {one.why}" for one in measures.unchecked))
    if report.unbroken:
        opened = " open" if held is Held.LISTED else ""
        summary = f"{len(report.unbroken):,} {'rule' if len(report.unbroken) == 1 else 'rules'} held"
        yield f"<details{opened}><summary>{summary}</summary>\n{_rules(report, report.unbroken)}\n</details>"
    yield _section("Next", _list(phrases.next_steps(report)))
    yield f"<footer>{_text(f'{measures.measured_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC')}</footer>"


def _header(report: TestReport) -> str:
    measures, kind = report.measures, _CLASSES[report.outcome]
    said = _list((*report.reasons, *report.concerns))
    return (
        f'<header class="{kind}">\n<h1>{_MARKS[kind]} {_text(report.outcome.value)}</h1>\n'
        f"<p><b>{_text(measures.contract)}</b> {_text(measures.version)} on <code>{_text(report.data)}</code></p>\n"
        f"{said}\n</header>"
    )


def _tiles(report: TestReport) -> str:
    measures = report.measures
    held = sum(item.held for item in measures.results)
    tiles = [
        ("rows", f"{measures.rows:,}"),
        ("valid", f"{measures.valid:,}"),
        ("quarantined", f"{measures.quarantined:,} {_bracketed(phrases.share(measures.quarantined, measures.rows))}"),
        ("rules held", f"{held:,} of {len(measures.results):,}"),
    ]
    if report.quarantine is not None:
        tiles.append(("quarantine", report.quarantine.path))
    return "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in tiles) + "</dl>"


def _rules(report: TestReport, told: Iterable[RuleMeasure]) -> str:
    rows = [
        (
            _mark(_SEVERITY_CLASSES[phrases.weight(report, item)]),
            f"<code>{_text(item.rule.id)}</code>",
            _text(phrases.found(item)),
            _text(phrases.share(item.broken, report.measures.rows) if item.broken else ""),
            _text(phrases.asked(item)),
            _text(item.rule.severity.value),
        )
        for item in told
    ]
    return _table(("", "rule", "rows or value", "share", "asks", "weighs"), rows)


def _samples(report: TestReport) -> str:
    rows = [
        (
            f"<code>{_text(one.rule)}</code>",
            f"<i>{phrases.NO_VALUE}</i>" if one.value is None else f"<code>{_text(one.value)}</code>",
            f"{one.rows:,}",
            _text(phrases.key_of(one)),
        )
        for one in report.samples
    ]
    return _table(("rule", "value", "rows", "such as the row of"), rows)


def _drift(report: TestReport) -> str:
    rows = [
        (
            _mark("quiet" if item.severity is Severity.INFO else _SEVERITY_CLASSES[item.severity]),
            f"<code>{_text(item.field)}</code>",
            _text(item.says),
            _text(item.kind),
        )
        for item in report.drift
    ]
    return _table(("", "field", "difference", "kind"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose cells say their column's name, so that narrow screens can stack them."""
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
    listed = "\n".join(f"<li>{_text(item)}</li>" for item in items)
    return f"<ul>\n{listed}\n</ul>" if listed else ""


def _mark(kind: str) -> str:
    return f'<span class="{kind}" title="{kind}">{_MARKS[kind]}</span>'


def _bracketed(text: str) -> str:
    return f"({text})" if text else ""


def _text(text: str) -> str:
    return escape(visible(text))
