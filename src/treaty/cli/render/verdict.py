"""Rendering of a verdict: the changes, what they break, the required version and the next steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from treaty.cli.options import OutputFormat
from treaty.compatibility import KINDS, Breaks, Judged, Mode, Plan, RenameSuggestion, Semantics, Verdict
from treaty.compatibility.kinds import checks
from treaty.contracts import Bump, Finding, Severity
from treaty.contracts.text.writer import write_json
from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from rich.console import Console


Renames = tuple[RenameSuggestion, ...]
BROKEN = {Breaks.EXISTING_DATA: "existing data", Breaks.EXISTING_READERS: "existing readers"}
HEADINGS = {
    Severity.ERROR: "Breaking",
    Severity.WARNING: "To review",
    Severity.INFO: "Compatible",
}


def is_accepted(verdict: Verdict) -> bool:
    """Return whether the change is accepted."""
    return verdict.admissible or verdict.is_unchanged


def describe_breakage(judged: Judged) -> str:
    """Describe what a change breaks."""
    if not judged.breaks:
        return "consumers must act" if judged.grade.bump is Bump.MAJOR else ""
    return "breaks " + " and ".join(BROKEN[party] for party in sorted(judged.breaks))


def describe_outcome(verdict: Verdict) -> str:
    """Summarize the verdict in one line."""
    if not verdict.judged:
        return "no change" if is_accepted(verdict) else "no change, but refused"
    facts = _describe_compatibility(verdict)
    if verdict.admissible:
        planned = verdict.required_bump is Bump.MAJOR and verdict.opens_line and verdict.has_plan
        return f"{facts}; accepted as a new line with a migration plan" if planned else facts
    if any(judged.severity is Severity.ERROR for judged in verdict.judged):
        return f"{facts}; refused"
    failed = {finding.id for finding in verdict.errors}
    return f"{facts}; refused: {next((why for check, why in _REFUSALS.items() if check in failed), 'a check failed')}"


_REFUSALS = {
    checks.version_bump_too_small.id: "the version is too small",
    checks.migration_missing.id: "a change that requires MAJOR needs a migration plan",
}
"""Why a change that the mode allows is refused."""


def _describe_rules(verdict: Verdict) -> str:
    """Name the mode and, if they are not those of contracts, the semantics."""
    mode = verdict.mode.value
    return mode if verdict.semantics is Semantics.CONTRACT else f"{mode} ({verdict.semantics.value})"


def _describe_compatibility(verdict: Verdict) -> str:
    """Describe who is broken: nothing, what the mode protects, or only what it does not protect."""
    if not verdict.compatible and any(judged.severity is Severity.ERROR for judged in verdict.judged):
        return f"not compatible under {_describe_rules(verdict)}"
    broken = {party for judged in verdict.judged for party in judged.breaks}
    if not broken or verdict.mode is Mode.NONE:
        return f"compatible under {_describe_rules(verdict)}"
    safe = " and ".join(BROKEN[one] for one in BROKEN if one not in broken)
    return f"compatible with {safe}; breaks " + " and ".join(BROKEN[one] for one in BROKEN if one in broken)


PLAN_STEPS = {
    Plan.MISSING: "add a migration: block (guide, window, owner); the new line then exists next to the old one",
    Plan.EARLIER: "the migration: block is the one of the previous line; write a new one (guide, window, owner)",
}
"""What to do if a new line has no migration plan of its own."""


def describe_version(verdict: Verdict) -> str | None:
    """Describe the required and the declared version; None if there is no change."""
    if not verdict.judged or verdict.required_version is None:
        return None
    declared = verdict.after.version
    if verdict.declared_bump is not None and verdict.declared_bump >= max(verdict.required_bump, Bump.PATCH):
        return (
            f"{declared} is enough: the changes require {verdict.required_bump} (at least {verdict.required_version})"
        )
    return f"these changes require {verdict.required_version} ({verdict.required_bump}); {declared} is declared"


def next_steps(verdict: Verdict, renames: Renames) -> Iterator[str]:
    """Yield the next steps in order."""
    if not verdict.judged:
        return
    if renames:
        yield "if a field was renamed, give both fields the same id; the new data can then serve the old schema"
    enough = verdict.declared_bump is not None and verdict.declared_bump >= verdict.required_bump
    is_versioned = verdict.after.is_versioned and (verdict.before is None or verdict.before.is_versioned)
    if not is_versioned:
        pass
    elif verdict.required_version is None:
        yield "write both versions as MAJOR.MINOR.PATCH"
    elif not enough:
        yield f"set version: {verdict.required_version}"
    if is_versioned and verdict.required_bump is Bump.MAJOR and verdict.plan in PLAN_STEPS:
        yield PLAN_STEPS[verdict.plan]
    if verdict.required_bump is Bump.MAJOR:
        yield "see the migration path, with views and guides: treaty migrate plan BEFORE AFTER"
    if not verdict.admissible:
        breaking = next((judged for judged in verdict.judged if judged.severity is Severity.ERROR), None)
        if breaking is not None:
            yield f"see why, and what to do instead: treaty explain {breaking.change.kind}"


def print_verdict(verdict: Verdict, findings: Sequence[Finding], renames: Renames, output: OutputFormat) -> None:
    """Print a verdict in a format; `findings` are its findings with their places in the documents."""
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
    from treaty.cli.render.console import print_to_console, text

    title = text(verdict.after.id, style="path")
    if verdict.after.is_versioned:
        old = verdict.before.version if verdict.before else "nothing"
        title.append_text(text(f"  {old} → {verdict.after.version}", style="accent"))
    title.append(f"  {_describe_rules(verdict)}", style="quiet")
    with print_to_console() as console:
        console.print(title)
        console.print()
        for severity, heading in HEADINGS.items():
            group = [judged for judged in verdict.judged if judged.severity is severity]
            if group:
                _print_group(console, heading, severity, group)
        _print_summary(console, verdict, renames)


def _print_group(console: Console, heading: str, severity: Severity, group: list[Judged]) -> None:
    from rich.table import Table

    from treaty.cli.render.console import MARKS, STYLES, text

    console.print(text(heading, style=STYLES[severity]))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for change in group:
        facts = (str(change.grade.bump), describe_breakage(change), change.change.kind)
        message = text(change.message)
        message.append("\n" + " · ".join(fact for fact in facts if fact), style="quiet")
        grid.add_row(text(MARKS[severity], style=STYLES[severity]), message)
    console.print(grid)
    console.print()


def _print_summary(console: Console, verdict: Verdict, renames: Renames) -> None:
    from rich.table import Table

    from treaty.cli.render.console import text

    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="quiet", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    style = "good" if is_accepted(verdict) else "error"
    grid.add_row("Verdict", text(describe_outcome(verdict), style=style))
    if version := describe_version(verdict):
        grid.add_row("Version", text(version))
    for finding in _other_checks(verdict):
        grid.add_row("Check", text(finding.message, style="error"))
    for rename in renames:
        grid.add_row("Rename?", text(str(rename)))
    for number, step in enumerate(next_steps(verdict, renames)):
        grid.add_row("Next" if number == 0 else "", text(step))
    console.print(grid)


def _other_checks(verdict: Verdict) -> list[Finding]:
    """Return failed checks that neither the version line nor the next steps mention."""
    mentioned = [checks.version_bump_too_small.id]
    mentioned += [checks.migration_missing.id] if verdict.after.is_versioned else []
    return [] if verdict.is_unchanged else [finding for finding in verdict.checks if finding.id not in mentioned]


def _markdown(verdict: Verdict, renames: Renames) -> str:
    from treaty.cli.render.markdown import code, escape_markdown, table

    old = verdict.before.version if verdict.before else "nothing"
    mark = "✅" if is_accepted(verdict) else "❌"
    title = f"### {mark} {code(verdict.after.id)}"
    title += f" {code(old)} → {code(verdict.after.version)}" if verdict.after.is_versioned else ""
    parts = [title, f"**{describe_outcome(verdict)}**"]
    if version := describe_version(verdict):
        parts.append(escape_markdown(version))
    if verdict.judged:
        rows = [
            (
                HEADINGS[judged.severity],
                code(judged.change.path),
                escape_markdown(judged.message),
                str(judged.grade.bump),
                describe_breakage(judged),
            )
            for severity in HEADINGS
            for judged in verdict.judged
            if judged.severity is severity
        ]
        parts.append(table(("", "field", "change", "bump", "breaks"), rows))
    notes = [finding.message for finding in _other_checks(verdict)]
    notes += [*map(str, renames), *next_steps(verdict, renames)]
    parts.append("\n".join(f"- {escape_markdown(note)}" for note in notes))
    return "\n\n".join(part for part in parts if part)


def print_required_version(verdict: Verdict, before: str, output: OutputFormat) -> None:
    """Print only the version that a change requires; as JSON, with the changes that require it."""
    if verdict.required_version is None:
        version = verdict.before.version if verdict.before else ""
        raise InvalidDocument(f"the version {version!r} of {before} is not MAJOR.MINOR.PATCH, so there is no next one")
    if output is OutputFormat.TEXT:
        typer.echo(verdict.required_version)
        return
    changes = [judged.change for judged in verdict.judged if judged.grade.bump is verdict.required_bump]
    data = {
        "version": verdict.required_version,
        "bump": str(verdict.required_bump),
        "because": [{"kind": change.kind, "path": change.path} for change in changes],
    }
    typer.echo(write_json(data), nl=False)
