"""Rendering of a pipeline run: the summary, the steps by layer, the reasons of failures, and the next steps."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import MARKS, STYLES, print_to_console, text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts
from treaty.cli.render.upkeep import summarize_upkeep
from treaty.contracts.findings import Severity
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary

_SEVERITY = {
    Outcome.DONE: Severity.INFO,
    Outcome.NOTHING_NEW: Severity.INFO,
    Outcome.SKIPPED: Severity.WARNING,
    Outcome.REFUSED: Severity.ERROR,
    Outcome.FAILED: Severity.ERROR,
}
_SHORT = {Outcome.SKIPPED: "skipped"}
_MODES = {"keyed": "by key"}
_LABELS = {
    "rows_in": "in",
    "out_of_order": "out of order",
    "gaps": "missing in sequence",
    "exceptions_opened": "exceptions opened",
    "exceptions_closed": "exceptions closed",
}
"""Labels of counts whose names are not words."""
_ALARMING = frozenset({"conflicting", "quarantined", "held", "exceptions_opened", "gaps"})
_ALWAYS = {
    "raw": ("rows_in",),
    "events": ("rows_in", "accepted"),
    "products": ("valid",),
    "reconciliation": ("resolved",),
    "publications": ("published",),
}
"""Counts that are always shown for a layer, even if they are zero."""
MAX_REASONS = 5


def print_run(summary: RunSummary) -> None:
    """Print the summary of a run."""
    with print_to_console() as console:
        _render_verdict(console, summary)
        _render_steps(console, summary)
        _render_reasons(console, summary)
        console.print(facts(_facts(summary)))


def summarize_run(summary: RunSummary) -> str:
    """Summarize a run in one line."""
    ended = [f"{number:,} {_SHORT.get(outcome, outcome)}" for outcome in Outcome if (number := summary.count(outcome))]
    result = f"{pluralize(len(summary.steps), 'step')}: {', '.join(ended)}"
    if not summary.steps:
        result = "nothing to run"
    elif summary.count(Outcome.NOTHING_NEW) == len(summary.steps):
        result = "nothing new"
    remarks = f", {pluralize(summary.remarks, 'remark')}" if summary.remarks else ""
    return f"{summary.project}: {result}{remarks}, in {format_seconds(summary.seconds)}"


def next_commands(summary: RunSummary) -> Iterator[str]:
    """Yield the next steps with their commands."""
    totals = summary.totals
    if any(step.branch for step in summary.steps):
        yield "correct the SQL, the data or the contract, and run again: treaty run"
    elif not summary.succeeded:
        yield "fix the cause, and continue where it stopped: treaty run"
    for step in _step_with_most(summary, "quarantined"):
        yield f"see quarantined rows and their violations: treaty read {step.table or step.name} --outcome quarantined"
    for step in _steps_with_files_apart(summary)[:1]:
        yield f"see the files that were set apart: treaty read arrivals.{step.name} --outcome 'set apart'"
    if totals.exceptions_opened:
        yield "see the exceptions and their owners: treaty exceptions list"
    for step in _step_with_most(summary, "published"):
        yield f"read the published rows: treaty read {step.name}"


def format_seconds(amount: float) -> str:
    """Format a duration."""
    if amount < 60:
        return f"{amount:.1f} s"
    minutes, left = divmod(round(amount), 60)
    return f"{minutes} min {left} s"


def _step_with_most(summary: RunSummary, name: str) -> list[StepSummary]:
    """Return the step with the highest count, if it is not zero."""
    steps = [step for step in summary.steps if getattr(step.counts, name) and step.outcome.is_good]
    return sorted(steps, key=lambda step: -getattr(step.counts, name))[:1]


def _steps_with_files_apart(summary: RunSummary) -> list[StepSummary]:
    """Return the sources with files that are set apart; the one with most of them first."""
    return sorted((step for step in summary.steps if step.set_apart), key=lambda step: -(step.set_apart or 0))


def _render_verdict(console: Console, summary: RunSummary) -> None:
    severities = [_SEVERITY[step.outcome] for step in summary.steps]
    if summary.remarks:
        severities.append(Severity.WARNING)
    worst = min(severities, key=lambda severity: severity.rank, default=Severity.INFO)
    console.print(text(f"{MARKS[worst]} {summarize_run(summary)}", style=STYLES[worst]), soft_wrap=True)
    console.print()


def _render_steps(console: Console, summary: RunSummary) -> None:
    if not summary.steps:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    table.add_column("")
    table.add_column("step", overflow="fold", max_width=34)
    table.add_column("mode", no_wrap=True)
    table.add_column("result", overflow="fold", ratio=1)
    table.add_column("seconds", justify="right", no_wrap=True)
    for layer, steps in summary.layers().items():
        table.add_row("", text(layer, style="path"), "", "", "")
        for step in steps:
            table.add_row(*_row(step))
    console.print(Padding.indent(table, 2))
    console.print()


def _row(step: StepSummary) -> Iterator[Text]:
    severity = _SEVERITY[step.outcome]
    quiet = step.outcome is Outcome.NOTHING_NEW
    is_noted = bool(step.remarks) and step.outcome.is_good
    severity = Severity.WARNING if is_noted else severity
    yield text("·", style="quiet") if quiet and not is_noted else text(MARKS[severity], style=STYLES[severity])
    yield text(step.name, style="quiet" if quiet else "accent")
    yield text("" if quiet else _MODES.get(step.mode.lower(), step.mode.lower()), style="quiet")
    yield _describe_result(step)
    yield text("" if not step.seconds else f"{step.seconds:.1f}", style="quiet")


def _describe_result(step: StepSummary) -> Text:
    if not step.outcome.is_good:
        return text(step.outcome.value, style=STYLES[_SEVERITY[step.outcome]])
    result = text(step.outcome.value, style="quiet") if step.outcome is Outcome.NOTHING_NEW else _describe_counts(step)
    if step.set_apart:
        result.append(" · ", style="quiet")
        result.append_text(text(f"{pluralize(step.set_apart, 'file')} set apart", style="warning"))
    for remark in step.remarks[:MAX_REASONS]:
        result.append("\n")
        result.append_text(text(remark, style="warning"))
    if len(step.remarks) > MAX_REASONS:
        result.append("\n")
        result.append_text(text(f"and {len(step.remarks) - MAX_REASONS:,} more; --format json lists all"))
    return result


def _describe_counts(step: StepSummary) -> Text:
    result = Text()
    for name, number in _shown_counts(step.layer, step.counts).items():
        result.append(" · " if result else "", style="quiet")
        label = f"{number:,} {_LABELS.get(name, name)}"
        result.append_text(text(label, style="warning" if number and name in _ALARMING else ""))
    return result


def _shown_counts(layer: str, counts: Counts) -> dict[str, int]:
    first = {name: getattr(counts, name) for name in _ALWAYS.get(layer, ())}
    return {**first, **{name: number for name, number in counts.items() if number}}


def _render_reasons(console: Console, summary: RunSummary) -> None:
    for step in summary.unsuccessful:
        console.print(text(f"{step.name}: {step.outcome}", style=STYLES[_SEVERITY[step.outcome]]))
        for reason in step.reasons[:MAX_REASONS]:
            console.print(Padding.indent(text(reason), 2))
        if len(step.reasons) > MAX_REASONS:
            console.print(
                text(f"  and {len(step.reasons) - MAX_REASONS:,} more; --format json lists all", style="quiet")
            )
        if step.branch:
            console.print(text(f"  nothing was published; the rows are in the branch {step.branch}", style="quiet"))
        console.print()


def _facts(summary: RunSummary) -> Iterator[tuple[str, str | Text]]:
    yield "Run", f"{summary.run}, started {summary.started_at:%Y-%m-%d %H:%M:%S} UTC"
    if summary.maintenance is not None and summary.maintenance.tables:
        yield "Housekeeping", summarize_upkeep(summary.maintenance)
    for number, contract in enumerate(summary.last_known):
        yield "Last known" if number == 0 else "", contract
    for number, command in enumerate(next_commands(summary)):
        yield "Next" if number == 0 else "", command
