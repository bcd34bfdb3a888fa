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
from treaty.compatibility import KINDS, Mode
from treaty.compatibility.kinds import checks
from treaty.contracts import parse_version
from treaty.contracts.versions import try_parse_version

_MARKS = {
    DocumentStatus.REGISTERED: ("✓", "good"),
    DocumentStatus.SUBSCRIBED: ("✓", "good"),
    DocumentStatus.PROPOSED: ("…", "warning"),
    DocumentStatus.UPDATED: ("✓", "good"),
    DocumentStatus.UNCHANGED: ("=", "quiet"),
    DocumentStatus.WOULD_REGISTER: ("✓", "good"),
    DocumentStatus.WOULD_SUBSCRIBE: ("✓", "good"),
    DocumentStatus.WOULD_PROPOSE: ("…", "warning"),
    DocumentStatus.WOULD_UPDATE: ("✓", "good"),
    DocumentStatus.UNDECIDED: ("?", "warning"),
    DocumentStatus.REFUSED: ("✗", "error"),
    DocumentStatus.CONFLICT: ("✗", "error"),
    DocumentStatus.INVALID: ("✗", "error"),
    DocumentStatus.NOT_ALLOWED: ("✗", "error"),
}


_TAKEN = frozenset({DocumentStatus.REGISTERED, DocumentStatus.WOULD_REGISTER})
_PHRASES = {DocumentStatus.UNCHANGED: "already registered, unchanged"}
"""The text that a row shows in place of its status."""


def print_outcomes(outcomes: Sequence[Outcome], output: AnswerFormat) -> None:
    """Print the outcome of each document and a summary."""
    if output is AnswerFormat.JSON:
        print_data({"items": [_as_data(one) for one in outcomes], "next": None})
        return
    with print_to_console() as console:
        console.print(_table(outcomes))
        for outcome in outcomes:
            if outcome.status is DocumentStatus.REFUSED:
                console.print()
                _render_refused(console, outcome)
        console.print()
        console.print(text(_summary(outcomes)))


def _table(outcomes: Sequence[Outcome]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for outcome in outcomes:
        mark, style = _MARKS[outcome.status]
        entry = text(f"{outcome.title}  ", style="path")
        entry.append_text(text(_PHRASES.get(outcome.status, outcome.status.value), style=style))
        for line in _notes(outcome):
            entry.append("\n").append_text(text(line, style="quiet"))
        grid.add_row(text(mark, style=style), entry)
    return grid


def _notes(outcome: Outcome) -> Iterator[str]:
    if outcome.status is DocumentStatus.PROPOSED and outcome.message is None:
        yield f"it breaks consumers; another person has to approve it: treaty proposal approve {outcome.proposal}"
    if outcome.unconfirmed:
        names = ", ".join(outcome.unconfirmed)
        yield f"not waited for, because unconfirmed: {names}; see treaty consumer confirm and treaty consumer challenge"
    if outcome.message and outcome.status is not DocumentStatus.REFUSED:
        yield from outcome.message.split("\n")
    if (
        outcome.status is DocumentStatus.REGISTERED
        and outcome.impact is not None
        and (notified := outcome.impact.having("hit", "unknown"))
    ):
        yield f"notified: {', '.join(party.name for party in notified)}"
    if outcome.report is not None and outcome.status not in (DocumentStatus.REFUSED, DocumentStatus.UPDATED):
        yield from (issue.message for issue in outcome.report.warnings)
    if outcome.status in _TAKEN and (waived := _not_enforced(outcome)):
        yield waived


def _not_enforced(outcome: Outcome) -> str | None:
    """Return the version that the changes would require, and whether they need a plan, where mode none asks neither."""
    required = try_parse_version(_required(outcome) or "")
    declared = try_parse_version(outcome.version or "")
    if outcome.report is None or outcome.report.mode != Mode.NONE.value or required is None or declared is None:
        return None
    if required <= declared:
        return None
    plan = " with a migration plan" if required.major > declared.major else ""
    return f"in another mode, these changes require {required}{plan}"


def _render_refused(console: Console, outcome: Outcome) -> None:
    console.print(text(f"Why {outcome.title} is refused", style="error"))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for kind, message in _reasons(outcome):
        grid.add_row(text("✗", style="error"), _reason(kind, message))
    for issue in outcome.report.warnings if outcome.report is not None else ():
        grid.add_row(text("!", style="warning"), _reason(issue.kind, issue.message))
    console.print(grid)
    console.print()
    if outcome.impact is not None:
        render_affected(console, outcome.impact.affected, outcome.impact.more)
    steps = list(_next_steps(outcome))
    if steps:
        console.print(facts([("Next" if number == 0 else "", step) for number, step in enumerate(steps)]))


def _reason(kind: str, message: str) -> Text:
    reason = text(message)
    return reason.append("\n").append_text(text(kind, style="quiet")) if kind else reason


def _reasons(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.report is not None:
        yield from ((issue.kind, issue.message) for issue in outcome.report.errors)
    elif outcome.message:
        yield "", outcome.message


def _next_steps(outcome: Outcome) -> Iterator[str]:
    """Yield the next steps in order, from the impact and the report."""
    required = _required(outcome)
    if required is not None and _is_version_too_low(outcome):
        yield f"set version: {required}"
    if _needs_plan(outcome, required):
        yield PLAN_STEPS[outcome.plan]
    if outcome.impact is not None and (contacts := contacts_of(outcome.impact.affected)):
        yield f"talk to the affected consumers: {', '.join(contacts)}"
    kinds = [kind for kind, _ in _reasons(outcome) if kind in KINDS and not KINDS[kind].is_check]
    if kinds:
        yield f"see why, and what to do instead: treaty explain {kinds[0]}"


def _is_version_too_low(outcome: Outcome) -> bool:
    """Return whether the declared version is too low and another one is known."""
    about = {KINDS[kind].term for kind, _ in _reasons(outcome) if kind in KINDS}
    before = outcome.impact.before if outcome.impact is not None else None
    return checks.version_bump_too_small.term in about and _required(outcome) not in (outcome.version, before)


def _required(outcome: Outcome) -> str | None:
    if outcome.report is not None and outcome.report.required_version:
        return outcome.report.required_version
    return outcome.impact.required_version if outcome.impact is not None else None


def _needs_plan(outcome: Outcome, required: str | None) -> bool:
    if outcome.plan not in PLAN_STEPS or required is None or outcome.impact is None or outcome.impact.before is None:
        return False
    return parse_version(required).major > parse_version(outcome.impact.before).major


def _summary(outcomes: Sequence[Outcome]) -> str:
    numbers = Counter(outcome.status for outcome in outcomes)
    parts = [pluralize(len(outcomes), "document")]
    parts += [f"{numbers[status]:,} {status.value}" for status in DocumentStatus if numbers[status]]
    return " · ".join(parts)


def _as_data(outcome: Outcome) -> dict[str, Any]:
    return {
        "source": outcome.source,
        "status": outcome.status.value.replace(" ", "_"),
        "dataset_id": outcome.contract,
        "version": outcome.version,
        "consumer": outcome.consumer,
        "line": outcome.line,
        "message": outcome.message,
        "proposal": outcome.proposal,
        "unconfirmed": list(outcome.unconfirmed),
        "required_version": _required(outcome),
        "compatibility": outcome.report.model_dump(mode="json") if outcome.report is not None else None,
        "impact": outcome.impact.model_dump(mode="json") if outcome.impact is not None else None,
    }
