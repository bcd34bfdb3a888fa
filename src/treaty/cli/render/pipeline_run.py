"""A run as people see it: the verdict first, what each step did by layer, why something did not work, and what next."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import MARKS, STYLES, screen, text
from treaty.cli.render.tables import count, facts
from treaty.contracts.findings import Severity
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary

_WEIGHT = {
    Outcome.DONE: Severity.INFO,
    Outcome.NOTHING_NEW: Severity.INFO,
    Outcome.SKIPPED: Severity.WARNING,
    Outcome.REFUSED: Severity.ERROR,
    Outcome.FAILED: Severity.ERROR,
}
_SHORT = {Outcome.SKIPPED: "skipped"}
_HOW = {"keyed": "by key"}
_WORDS = {
    "rows_in": "in",
    "out_of_order": "out of order",
    "gaps": "missing in sequence",
    "exceptions_opened": "exceptions opened",
    "exceptions_closed": "exceptions closed",
}
"""What a count is called where its name is not a word."""
_ALARMING = frozenset({"conflicting", "quarantined", "held", "exceptions_opened", "gaps"})
_ALWAYS = {
    "raw": ("rows_in",),
    "events": ("rows_in", "accepted"),
    "products": ("valid",),
    "reconciliation": ("resolved",),
    "publications": ("published",),
}
"""What is said of a layer first, and even where it is none."""
_MOST_REASONS = 5


def print_run(summary: RunSummary) -> None:
    """Print what a run did."""
    with screen() as drawn:
        _draw_verdict(drawn, summary)
        _draw_steps(drawn, summary)
        _draw_reasons(drawn, summary)
        drawn.print(facts(_facts(summary)))


def verdict(summary: RunSummary) -> str:
    """Say in one line how a run ended."""
    ended = [f"{number:,} {_SHORT.get(outcome, outcome)}" for outcome in Outcome if (number := summary.count(outcome))]
    said = f"{count(len(summary.steps), 'step')}: {', '.join(ended)}"
    if not summary.steps:
        said = "there was nothing to run"
    elif summary.count(Outcome.NOTHING_NEW) == len(summary.steps):
        said = "nothing new"
    return f"{summary.project}: {said}, in {seconds(summary.seconds)}"


def next_commands(summary: RunSummary) -> Iterator[str]:
    """Say how to go on from here."""
    totals = summary.totals
    if any(step.branch for step in summary.steps):
        yield "correct the SQL, the data or the contract, and run again: treaty run"
    elif not summary.succeeded:
        yield "when the cause is gone, go on where it stopped: treaty run"
    for step in _worst(summary, "quarantined"):
        yield f"see what was set apart, and why: treaty read {step.table or step.name} --outcome quarantined"
    if totals.exceptions_opened:
        yield "see what is in doubt, and who answers for it: treaty exceptions list"
    for step in _worst(summary, "published"):
        yield f"read what was published: treaty read {step.name}"


def seconds(amount: float) -> str:
    """Write a time that somebody waited for."""
    if amount < 60:
        return f"{amount:.1f} s"
    minutes, left = divmod(round(amount), 60)
    return f"{minutes} min {left} s"


def _worst(summary: RunSummary, name: str) -> list[StepSummary]:
    """Return the step with most of something, if there is any."""
    found = [step for step in summary.steps if getattr(step.counts, name) and step.outcome.is_good]
    return sorted(found, key=lambda step: -getattr(step.counts, name))[:1]


def _draw_verdict(drawn: Console, summary: RunSummary) -> None:
    weights = [_WEIGHT[step.outcome] for step in summary.steps]
    gravest = min(weights, key=lambda weight: weight.rank, default=Severity.INFO)
    drawn.print(text(f"{MARKS[gravest]} {verdict(summary)}", style=STYLES[gravest]), soft_wrap=True)
    drawn.print()


def _draw_steps(drawn: Console, summary: RunSummary) -> None:
    if not summary.steps:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    table.add_column("")
    table.add_column("step", overflow="fold", max_width=34)
    table.add_column("how", no_wrap=True)
    table.add_column("what happened", overflow="fold", ratio=1)
    table.add_column("seconds", justify="right", no_wrap=True)
    for layer, steps in summary.layers().items():
        table.add_row("", text(layer, style="path"), "", "", "")
        for step in steps:
            table.add_row(*_row(step))
    drawn.print(Padding.indent(table, 2))
    drawn.print()


def _row(step: StepSummary) -> Iterator[Text]:
    weight = _WEIGHT[step.outcome]
    quiet = step.outcome is Outcome.NOTHING_NEW
    yield text("·", style="quiet") if quiet else text(MARKS[weight], style=STYLES[weight])
    yield text(step.name, style="quiet" if quiet else "accent")
    yield text("" if quiet else _HOW.get(step.mode.lower(), step.mode.lower()), style="quiet")
    yield _happened(step)
    yield text("" if not step.seconds else f"{step.seconds:.1f}", style="quiet")


def _happened(step: StepSummary) -> Text:
    if step.outcome is not Outcome.DONE:
        return text(step.outcome.value, style="quiet" if step.outcome.is_good else STYLES[_WEIGHT[step.outcome]])
    said = Text()
    for name, number in _told(step.layer, step.counts).items():
        said.append(" · " if said else "", style="quiet")
        words = f"{number:,} {_WORDS.get(name, name)}"
        said.append_text(text(words, style="warning" if number and name in _ALARMING else ""))
    for remark in step.remarks:
        said.append("\n")
        said.append_text(text(remark, style="warning"))
    return said


def _told(layer: str, counts: Counts) -> dict[str, int]:
    first = {name: getattr(counts, name) for name in _ALWAYS.get(layer, ())}
    return {**first, **{name: number for name, number in counts.items() if number}}


def _draw_reasons(drawn: Console, summary: RunSummary) -> None:
    for step in summary.troubled:
        weight = STYLES[_WEIGHT[step.outcome]]
        drawn.print(text(f"{step.name}: {step.outcome}", style=weight))
        for reason in step.reasons[:_MOST_REASONS]:
            drawn.print(Padding.indent(text(reason), 2))
        if len(step.reasons) > _MOST_REASONS:
            drawn.print(text(f"  and {len(step.reasons) - _MOST_REASONS:,} more; --format json has all", style="quiet"))
        if step.branch:
            drawn.print(text(f"  nothing was published; the rows are kept in the branch {step.branch}", style="quiet"))
        drawn.print()


def _facts(summary: RunSummary) -> Iterator[tuple[str, str | Text]]:
    yield "Run", f"{summary.run}, begun {summary.started_at:%Y-%m-%d %H:%M:%S} UTC"
    for number, command in enumerate(next_commands(summary)):
        yield "Next" if number == 0 else "", command
