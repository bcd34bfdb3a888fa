"""Drawing what became of documents that were to be registered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treaty.cli.options import AnswerFormat
from treaty.cli.registration import Became, Outcome
from treaty.cli.render.console import screen, text
from treaty.cli.render.consumers import contacts_of, draw_affected
from treaty.cli.render.output import print_data
from treaty.cli.render.tables import count, facts
from treaty.cli.render.verdict import PLAN_STEPS
from treaty.compatibility import KINDS
from treaty.compatibility.kinds import checks
from treaty.contracts import parse_version

_MARKS = {
    Became.REGISTERED: ("✓", "good"),
    Became.PROPOSED: ("…", "warning"),
    Became.UNCHANGED: ("=", "quiet"),
    Became.WOULD_REGISTER: ("✓", "good"),
    Became.WOULD_PROPOSE: ("…", "warning"),
    Became.UNDECIDED: ("?", "warning"),
    Became.REFUSED: ("✗", "error"),
    Became.CONFLICT: ("✗", "error"),
    Became.INVALID: ("✗", "error"),
    Became.NOT_ALLOWED: ("✗", "error"),
}


def print_outcomes(outcomes: Sequence[Outcome], output: AnswerFormat) -> None:
    """Print what became of each document, and a summary."""
    if output is AnswerFormat.JSON:
        print_data({"items": [_as_data(one) for one in outcomes], "next": None})
        return
    with screen() as drawn:
        drawn.print(_table(outcomes))
        for one in outcomes:
            if one.became is Became.REFUSED:
                drawn.print()
                _draw_refused(drawn, one)
        drawn.print()
        drawn.print(text(_summary(outcomes)))


def _table(outcomes: Sequence[Outcome]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for one in outcomes:
        mark, style = _MARKS[one.became]
        said = text(f"{one.contract} {one.version}  " if one.contract else f"{one.source}  ", style="path")
        said.append_text(text(one.became.value, style=style))
        for line in _notes(one):
            said.append("\n").append_text(text(line, style="quiet"))
        grid.add_row(text(mark, style=style), said)
    return grid


def _notes(one: Outcome) -> Iterator[str]:
    if one.became is Became.PROPOSED and one.message is None:
        yield f"it breaks consumers and waits for somebody else's word: treaty approve {one.proposal}"
    if one.message and one.became is not Became.REFUSED:
        yield from one.message.split("\n")
    if one.became is Became.REGISTERED and one.impact is not None and (told := one.impact.having("hit", "unknown")):
        yield f"told: {', '.join(party.name for party in told)}"
    if one.report is not None and one.became is not Became.REFUSED:
        yield from (issue.message for issue in one.report.warnings)


def _draw_refused(drawn: Console, one: Outcome) -> None:
    drawn.print(text(f"Why {one.contract} {one.version} is refused", style="error"))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for kind, message in _reasons(one):
        grid.add_row(text("✗", style="error"), _reason(kind, message))
    for issue in one.report.warnings if one.report is not None else ():
        grid.add_row(text("!", style="warning"), _reason(issue.kind, issue.message))
    drawn.print(grid)
    drawn.print()
    if one.impact is not None:
        draw_affected(drawn, one.impact.affected, one.impact.more)
    steps = list(_next_steps(one))
    if steps:
        drawn.print(facts([("Next" if number == 0 else "", step) for number, step in enumerate(steps)]))


def _reason(kind: str, message: str) -> Text:
    said = text(message)
    return said.append("\n").append_text(text(kind, style="quiet")) if kind else said


def _reasons(one: Outcome) -> Iterator[tuple[str, str]]:
    if one.report is not None:
        yield from ((issue.kind, issue.message) for issue in one.report.errors)
    elif one.message:
        yield "", one.message


def _next_steps(one: Outcome) -> Iterator[str]:
    """Say how to go on; facts of the impact and the report, in the order one would do them."""
    required = _required(one)
    if required is not None and _stands_against_version(one):
        yield f"set version: {required}"
    if _needs_plan(one, required):
        yield PLAN_STEPS[one.plan]
    if one.impact is not None and (contacts := contacts_of(one.impact.affected)):
        yield f"talk to those it hits: {', '.join(contacts)}"
    kinds = [kind for kind, _ in _reasons(one) if kind in KINDS and not KINDS[kind].is_check]
    if kinds:
        yield f"why, and what to do instead: treaty kinds {kinds[0]}"


def _stands_against_version(one: Outcome) -> bool:
    """Tell whether the version is what is wrong, and another one is there to be taken."""
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
    numbers = Counter(one.became for one in outcomes)
    parts = [count(len(outcomes), "document")]
    parts += [f"{numbers[became]:,} {became.value}" for became in Became if numbers[became]]
    return " · ".join(parts)


def _as_data(one: Outcome) -> dict[str, Any]:
    return {
        "source": one.source,
        "status": one.became.value.replace(" ", "_"),
        "dataset_id": one.contract,
        "version": one.version,
        "message": one.message,
        "proposal": one.proposal,
        "required_version": _required(one),
        "compatibility": one.report.model_dump(mode="json") if one.report is not None else None,
        "impact": one.impact.model_dump(mode="json") if one.impact is not None else None,
    }
