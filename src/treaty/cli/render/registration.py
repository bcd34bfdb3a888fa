"""Rendering of the outcome of a registration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treaty.cli.options import AnswerFormat
from treaty.cli.registration import DocumentStatus, Outcome
from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.consumers import contacts_of, render_affected
from treaty.cli.render.output import print_data
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts
from treaty.cli.render.verdict import PLAN_STEPS
from treaty.compatibility import KINDS
from treaty.compatibility.kinds import checks
from treaty.contracts import parse_version

_MARKS = {
    DocumentStatus.REGISTERED: ("✓", "good"),
    DocumentStatus.PROPOSED: ("…", "warning"),
    DocumentStatus.UNCHANGED: ("=", "quiet"),
    DocumentStatus.WOULD_REGISTER: ("✓", "good"),
    DocumentStatus.WOULD_PROPOSE: ("…", "warning"),
    DocumentStatus.UNDECIDED: ("?", "warning"),
    DocumentStatus.REFUSED: ("✗", "error"),
    DocumentStatus.CONFLICT: ("✗", "error"),
    DocumentStatus.INVALID: ("✗", "error"),
    DocumentStatus.NOT_ALLOWED: ("✗", "error"),
}


def print_outcomes(outcomes: Sequence[Outcome], output: AnswerFormat) -> None:
    """Print the outcome of each document and a summary."""
    if output is AnswerFormat.JSON:
        print_data({"items": [_as_data(one) for one in outcomes], "next": None})
        return
    with print_to_console() as console:
        console.print(_table(outcomes))
        for one in outcomes:
            if one.status is DocumentStatus.REFUSED:
                console.print()
                _render_refused(console, one)
        console.print()
        console.print(text(_summary(outcomes)))


def _table(outcomes: Sequence[Outcome]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for one in outcomes:
        mark, style = _MARKS[one.status]
        entry = text(f"{one.contract} {one.version}  " if one.contract else f"{one.source}  ", style="path")
        entry.append_text(text(one.status.value, style=style))
        for line in _notes(one):
            entry.append("\n").append_text(text(line, style="quiet"))
        grid.add_row(text(mark, style=style), entry)
    return grid


def _notes(one: Outcome) -> Iterator[str]:
    if one.status is DocumentStatus.PROPOSED and one.message is None:
        yield f"it breaks consumers and needs the approval of another person: treaty proposal approve {one.proposal}"
    if one.message and one.status is not DocumentStatus.REFUSED:
        yield from one.message.split("\n")
    if (
        one.status is DocumentStatus.REGISTERED
        and one.impact is not None
        and (notified := one.impact.having("hit", "unknown"))
    ):
        yield f"notified: {', '.join(party.name for party in notified)}"
    if one.report is not None and one.status is not DocumentStatus.REFUSED:
        yield from (issue.message for issue in one.report.warnings)


def _render_refused(console: Console, one: Outcome) -> None:
    console.print(text(f"Why {one.contract} {one.version} is refused", style="error"))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for kind, message in _reasons(one):
        grid.add_row(text("✗", style="error"), _reason(kind, message))
    for issue in one.report.warnings if one.report is not None else ():
        grid.add_row(text("!", style="warning"), _reason(issue.kind, issue.message))
    console.print(grid)
    console.print()
    if one.impact is not None:
        render_affected(console, one.impact.affected, one.impact.more)
    steps = list(_next_steps(one))
    if steps:
        console.print(facts([("Next" if number == 0 else "", step) for number, step in enumerate(steps)]))


def _reason(kind: str, message: str) -> Text:
    reason = text(message)
    return reason.append("\n").append_text(text(kind, style="quiet")) if kind else reason


def _reasons(one: Outcome) -> Iterator[tuple[str, str]]:
    if one.report is not None:
        yield from ((issue.kind, issue.message) for issue in one.report.errors)
    elif one.message:
        yield "", one.message


def _next_steps(one: Outcome) -> Iterator[str]:
    """Yield the next steps in order, from the impact and the report."""
    required = _required(one)
    if required is not None and _is_version_too_low(one):
        yield f"set version: {required}"
    if _needs_plan(one, required):
        yield PLAN_STEPS[one.plan]
    if one.impact is not None and (contacts := contacts_of(one.impact.affected)):
        yield f"talk to the affected consumers: {', '.join(contacts)}"
    kinds = [kind for kind, _ in _reasons(one) if kind in KINDS and not KINDS[kind].is_check]
    if kinds:
        yield f"see why, and what to do instead: treaty explain {kinds[0]}"


def _is_version_too_low(one: Outcome) -> bool:
    """Tell whether the declared version is too low and another one is known."""
    about = {KINDS[kind].term for kind, _ in _reasons(one) if kind in KINDS}
    before = one.impact.before if one.impact is not None else None
    return checks.version_bump_too_small.term in about and _required(one) not in (one.version, before)


def _required(one: Outcome) -> str | None:
    if one.report is not None and one.report.required_version:
        return one.report.required_version
    return one.impact.required_version if one.impact is not None else None


def _needs_plan(one: Outcome, required: str | None) -> bool:
    if one.plan not in PLAN_STEPS or required is None or one.impact is None or one.impact.before is None:
        return False
    return parse_version(required).major > parse_version(one.impact.before).major


def _summary(outcomes: Sequence[Outcome]) -> str:
    numbers = Counter(one.status for one in outcomes)
    parts = [pluralize(len(outcomes), "document")]
    parts += [f"{numbers[status]:,} {status.value}" for status in DocumentStatus if numbers[status]]
    return " · ".join(parts)


def _as_data(one: Outcome) -> dict[str, Any]:
    return {
        "source": one.source,
        "status": one.status.value.replace(" ", "_"),
        "dataset_id": one.contract,
        "version": one.version,
        "message": one.message,
        "proposal": one.proposal,
        "required_version": _required(one),
        "compatibility": one.report.model_dump(mode="json") if one.report is not None else None,
        "impact": one.impact.model_dump(mode="json") if one.impact is not None else None,
    }
