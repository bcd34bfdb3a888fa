"""Rendering of parallel runs: text, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from decimal import Decimal

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.markdown import code, escape_markdown
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, listing
from treaty.registry.model import FindingAnswer, ParallelRunAnswer
from treaty.registry.model.parallel_answers import ExampleAnswer

_STYLES = {"new": "error", "open": "warning", "disposed": "quiet"}
CSV_COLUMNS = (
    "finding", "state", "class", "column", "pattern", "count", "effects", "involved", "first_seen", "disposition",
    "owner", "reason", "term",
)  # fmt: skip


def render_runs(console: Console, runs: Sequence[ParallelRunAnswer]) -> None:
    """Render runs, one in each row."""
    console.print(
        listing(
            ("feed", "up to", "publication", "legacy rows", "new rows", "differences", "undecided"),
            (
                (
                    run.feed,
                    run.as_of.isoformat(),
                    run.line,
                    f"{run.legacy_rows:,}",
                    f"{run.new_rows:,}",
                    f"{run.differences:,}",
                    text(str(run.undisposed), style="good" if run.clean else "error"),
                )
                for run in runs
            ),
        )
    )


def render_run(console: Console, run: ParallelRunAnswer) -> None:
    """Render a run with its findings, new ones first."""
    console.print(text(f"{run.feed} and {run.line} up to {run.as_of}", style="path"))
    console.print(
        f"{run.legacy_rows:,} legacy rows, {run.new_rows:,} new rows, {pluralize(run.differences, 'difference')}"
    )
    for name in run.legacy_sums:
        console.print(f"{name}: {run.legacy_sums[name]:,} in legacy, {run.new_sums[name]:,} in new")
    if run.findings:
        console.print()
        console.print(
            listing(
                ("finding", "state", "what differs", "count", "effect", "in question"),
                (
                    (
                        finding.fingerprint,
                        _state_text(finding),
                        finding.title,
                        f"{finding.count:,}",
                        format_amounts(finding.effects),
                        format_amounts(finding.involved),
                    )
                    for finding in run.findings
                ),
            )
        )
    console.print()
    undecided = pluralize(run.undisposed, "finding")
    console.print(
        text("clean: every finding is decided", style="good")
        if run.clean
        else text(f"{undecided} undecided", style="error")
    )


def render_finding(console: Console, finding: FindingAnswer) -> None:
    """Render a finding with its examples and what was decided."""
    console.print(text(finding.title, style="path"))
    rows: list[tuple[str, str | Text]] = [
        ("Finding", finding.fingerprint),
        ("State", _state_text(finding)),
        ("Count", f"{finding.count:,}"),
        ("Effect", format_amounts(finding.effects)),
        ("First seen", finding.first_seen.isoformat() if finding.first_seen else ""),
    ]
    if finding.disposition is not None:
        decided = finding.disposition
        rows += [
            ("Decided", decided.disposition.replace("_", " ")),
            ("By", f"{decided.decided_by} on {decided.decided_at:%Y-%m-%d}"),
            ("Owner", decided.owner),
            ("Reason", decided.reason),
        ]
        if decided.term:
            rows.append(("Term", decided.term))
    rows += [
        ("Example", f"{one.key}: {one.legacy or '—'} in legacy, {one.new or '—'} in new") for one in finding.examples
    ]
    console.print(facts(rows))


def write_markdown(run: ParallelRunAnswer) -> str:
    """Return the daily report as Markdown."""
    lines = [
        f"# {run.feed} and {run.line} up to {run.as_of}",
        "",
        f"{run.legacy_rows:,} legacy rows, {run.new_rows:,} new rows, {pluralize(run.differences, 'difference')}, "
        f"{pluralize(run.undisposed, 'finding')} undecided.",
        "",
    ]
    for name in run.legacy_sums:
        lines.append(f"- {name}: {run.legacy_sums[name]:,} in legacy, {run.new_sums[name]:,} in new")
    lines += [
        "",
        "| finding | state | what differs | count | effect | decided |",
        "| --- | --- | --- | ---: | ---: | --- |",
    ]
    for finding in run.findings:
        decided = finding.disposition
        words = f"{decided.disposition.replace('_', ' ')}, {decided.owner}: {decided.reason}" if decided else ""
        cells = (
            finding.fingerprint,
            finding.state,
            finding.title,
            f"{finding.count:,}",
            format_amounts(finding.effects),
            words,
        )
        lines.append(f"| {' | '.join(map(escape_markdown, cells))} |")
    for finding in run.findings:
        if finding.state != "disposed" and finding.examples:
            lines += ["", f"## {finding.fingerprint}", "", escape_markdown(finding.title), ""]
            lines += map(_example, finding.examples)
    return "\n".join(lines) + "\n"


def write_csv(run: ParallelRunAnswer) -> str:
    """Return the findings as CSV; a cell that a spreadsheet would read as a formula gets a quote."""
    output = io.StringIO(newline="")
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for finding in run.findings:
        decided = finding.disposition
        cells = (
            finding.fingerprint,
            finding.state,
            finding.difference_class.value,
            finding.column,
            finding.pattern,
            str(finding.count),
            format_amounts(finding.effects),
            format_amounts(finding.involved),
            finding.first_seen.isoformat() if finding.first_seen else "",
            decided.disposition.value if decided else "",
            decided.owner if decided else "",
            decided.reason if decided else "",
            (decided.term or "") if decided else "",
        )
        writer.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell for cell in cells])
    return output.getvalue()


def format_amounts(amounts: Mapping[str, Decimal]) -> str:
    """Return the sums of money columns that are not zero, such as `net -38,110.50`."""
    return ", ".join(f"{name} {amount:,}" for name, amount in amounts.items() if amount)


def _example(one: ExampleAnswer) -> str:
    sides = (escape_markdown(side or "—") for side in (one.legacy, one.new))
    return "- {}: {} in legacy, {} in new".format(code(one.key), *sides)


def _state_text(finding: FindingAnswer) -> Text:
    if finding.disposition is not None:
        return text(finding.disposition.disposition.replace("_", " "), style="quiet")
    return text(finding.state, style=_STYLES[finding.state])
