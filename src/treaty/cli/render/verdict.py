"""A verdict in words: what it says, whom changes break, which version they need, how to go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from treaty.cli.options import OutputFormat
from treaty.compatibility import KINDS, Breaks, Judged, Plan, RenameSuggestion, Verdict
from treaty.compatibility.kinds import checks
from treaty.contracts import Bump, Finding, Severity
from treaty.contracts.text.writer import write_json

if TYPE_CHECKING:
    from rich.console import Console


Renames = tuple[RenameSuggestion, ...]
BROKEN = {Breaks.EXISTING_DATA: "existing data", Breaks.EXISTING_READERS: "existing readers"}
HEADINGS = {
    Severity.ERROR: "Breaking",
    Severity.WARNING: "To look at",
    Severity.INFO: "Compatible",
}


def is_fine(verdict: Verdict) -> bool:
    """Tell whether nothing stands against the change."""
    return verdict.admissible or verdict.is_unchanged


def whom(item: Judged) -> str:
    """Say whom a change breaks."""
    if not item.breaks:
        return "consumers must act" if item.grade.bump is Bump.MAJOR else ""
    return "breaks " + " and ".join(BROKEN[one] for one in sorted(item.breaks))


def outcome(verdict: Verdict) -> str:
    """Say the verdict in one line."""
    if not verdict.judged:
        return "no change" if is_fine(verdict) else "no change, and refused"
    compatible = f"compatible under {verdict.mode.value}"
    if verdict.admissible:
        planned = f"not {compatible}; admissible as a new line with its migration plan"
        return compatible if verdict.compatible else planned
    if any(item.severity is Severity.ERROR for item in verdict.judged):
        return f"not {compatible}; refused"
    too_small = checks.version_bump_too_small.id in {finding.id for finding in verdict.errors}
    return f"{compatible}, but refused: " + ("the version is too small" if too_small else "a check failed")


PLAN_STEPS = {
    Plan.MISSING: "add a migration: block (guide, window, owner): the new line then runs beside the old one",
    Plan.EARLIER: "the migration: block is the plan of the line before; write one of its own (guide, window, owner)",
}
"""What to do for a plan that a new line lacks."""


def version_said(verdict: Verdict) -> str | None:
    """Say which version is needed and which is declared, if a version is in question."""
    if not verdict.judged or verdict.required_version is None:
        return None
    declared = verdict.after.version
    if verdict.declared_bump is not None and verdict.declared_bump >= max(verdict.required_bump, Bump.PATCH):
        return (
            f"{declared} is enough: these changes ask for {verdict.required_bump} (at least {verdict.required_version})"
        )
    return f"these changes need {verdict.required_version} ({verdict.required_bump}); {declared} is declared"


def next_steps(verdict: Verdict, renames: Renames) -> Iterator[str]:
    """Yield how to go on, in the order one would do it."""
    if not verdict.judged:
        return
    if renames:
        yield "if a rename is meant, give both fields the same id; then the old shape can be served from the new data"
    enough = verdict.declared_bump is not None and verdict.declared_bump >= verdict.required_bump
    if verdict.required_version is None:
        yield "give both versions as MAJOR.MINOR.PATCH"
    elif not enough:
        yield f"set version: {verdict.required_version}"
    if verdict.required_bump is Bump.MAJOR and verdict.plan in PLAN_STEPS:
        yield PLAN_STEPS[verdict.plan]
    if verdict.required_bump is Bump.MAJOR:
        yield "the way over, for each consumer and as views: treaty migrate plan BEFORE AFTER"
    if not verdict.admissible:
        breaking = next((item for item in verdict.judged if item.severity is Severity.ERROR), None)
        if breaking is not None:
            yield f"why, and what to do instead: treaty kinds {breaking.change.kind}"


def print_verdict(verdict: Verdict, findings: Sequence[Finding], renames: Renames, output: OutputFormat) -> None:
    """Print a verdict; the findings are the verdict's own, at their places."""
    match output:
        case OutputFormat.TEXT:
            _print_text(verdict, renames)
        case OutputFormat.JSON:
            from treaty.compatibility.serialization import verdict_as_data

            typer.echo(write_json(verdict_as_data(verdict, findings, renames)), nl=False)
        case OutputFormat.MARKDOWN:
            typer.echo(_markdown(verdict, renames))
        case OutputFormat.SARIF:
            from treaty.cli.render.sarif import sarif

            pages = {kind.id: (kind.summary, kind.page) for kind in KINDS.values()}
            typer.echo(write_json(sarif(findings, pages)), nl=False)


def _print_text(verdict: Verdict, renames: Renames) -> None:
    from treaty.cli.render.console import screen, text

    old = verdict.before.version if verdict.before else "nothing"
    title = text(verdict.after.id, style="path")
    title.append_text(text(f"  {old} → {verdict.after.version}", style="accent"))
    title.append(f"  {verdict.mode.value}", style="quiet")
    with screen() as drawn:
        drawn.print(title)
        drawn.print()
        for severity, heading in HEADINGS.items():
            group = [item for item in verdict.judged if item.severity is severity]
            if group:
                _print_group(drawn, heading, severity, group)
        _print_summary(drawn, verdict, renames)


def _print_group(drawn: Console, heading: str, severity: Severity, group: list[Judged]) -> None:
    from rich.table import Table

    from treaty.cli.render.console import MARKS, STYLES, text

    drawn.print(text(heading, style=STYLES[severity]))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for item in group:
        facts = (str(item.grade.bump), whom(item), item.change.kind)
        said = text(item.message)
        said.append("\n" + " · ".join(fact for fact in facts if fact), style="quiet")
        grid.add_row(text(MARKS[severity], style=STYLES[severity]), said)
    drawn.print(grid)
    drawn.print()


def _print_summary(drawn: Console, verdict: Verdict, renames: Renames) -> None:
    from rich.table import Table

    from treaty.cli.render.console import text

    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="quiet", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    style = "good" if is_fine(verdict) else "error"
    grid.add_row("Verdict", text(outcome(verdict), style=style))
    if version := version_said(verdict):
        grid.add_row("Version", text(version))
    for finding in _standing_checks(verdict):
        grid.add_row("Check", text(finding.message, style="error"))
    for one in renames:
        grid.add_row("Rename?", text(str(one)))
    for number, step in enumerate(next_steps(verdict, renames)):
        grid.add_row("Next" if number == 0 else "", text(step))
    drawn.print(grid)


def _standing_checks(verdict: Verdict) -> list[Finding]:
    """Return the checks that the lines on version and next steps do not speak of."""
    told = (checks.version_bump_too_small.id, checks.migration_missing.id)
    return [] if verdict.is_unchanged else [finding for finding in verdict.checks if finding.id not in told]


def _markdown(verdict: Verdict, renames: Renames) -> str:
    from treaty.cli.render.markdown import code, escaped, table

    old = verdict.before.version if verdict.before else "nothing"
    mark = "✅" if is_fine(verdict) else "❌"
    title = f"### {mark} {code(verdict.after.id)} {code(old)} → {code(verdict.after.version)}"
    parts = [title, f"**{outcome(verdict)}**"]
    if version := version_said(verdict):
        parts.append(escaped(version))
    if verdict.judged:
        rows = [
            (HEADINGS[item.severity], code(item.change.path), escaped(item.message), str(item.grade.bump), whom(item))
            for severity in HEADINGS
            for item in verdict.judged
            if item.severity is severity
        ]
        parts.append(table(("", "where", "what", "bump", "whom"), rows))
    notes = [finding.message for finding in _standing_checks(verdict)]
    notes += [*map(str, renames), *next_steps(verdict, renames)]
    parts.append("\n".join(f"- {escaped(note)}" for note in notes))
    return "\n\n".join(part for part in parts if part)
