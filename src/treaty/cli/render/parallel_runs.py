"""Rendering of parallel runs on the console."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, listing
from treaty.registry.model import FindingAnswer, ParallelRunAnswer
from treaty.registry.variance_report import format_amounts

_STYLES = {"new": "error", "open": "warning", "disposed": "quiet"}


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


def _state_text(finding: FindingAnswer) -> Text:
    if finding.disposition is not None:
        return text(finding.disposition.disposition.replace("_", " "), style="quiet")
    return text(finding.state, style=_STYLES[finding.state])
