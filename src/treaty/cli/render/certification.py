"""Rendering of certifications: the result of every check, examples, and what was not seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console

from treaty.cli.options import AnswerFormat
from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.output import print_data
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import format_time
from treaty.contracts.findings import Severity
from treaty.events.certification import Outcome

if TYPE_CHECKING:
    from treaty.events.certification import Certification, CheckResult, Coverage, Violations

_MARKS = {
    Outcome.PASSED: ("✓", "good"),
    Outcome.WARNED: ("!", "warning"),
    Outcome.FAILED: ("✗", "error"),
    Outcome.NOT_CHECKED: ("–", "quiet"),
}
_MAX_UNSEEN = 10


def print_certification(found: Certification, output: AnswerFormat) -> None:
    """Print a certification as text or JSON."""
    if output is AnswerFormat.JSON:
        print_data(found.as_data())
        return
    with print_to_console() as console:
        render_certification(console, found)


def render_certification(console: Console, found: Certification) -> None:
    """Render a certification: contracts, evidence, checks, coverage, verdict."""
    console.print(text(f"{found.publisher}", style="path"))
    evidence = found.evidence
    count = f"{pluralize(evidence.events, 'event')} of {pluralize(evidence.keys, 'key')} from {evidence.source}"
    repeated = f", {pluralize(evidence.redeliveries, 'redelivery', 'redeliveries')}" if evidence.redeliveries else ""
    console.print(text(count + repeated))
    if evidence.first_event_at and evidence.last_event_at:
        span = f"from {format_time(evidence.first_event_at)} to {format_time(evidence.last_event_at)} UTC"
        console.print(text(f"happened {span}", style="quiet"))
    if evidence.bounded_by:
        console.print(
            text(f"the publisher did not end; collecting stopped after {evidence.bounded_by}", style="warning")
        )
    for one in found.contracts:
        console.print(
            text(f"  {one.event_type}: {one.id} {one.version}, {pluralize(one.events, 'event')}", style="quiet")
        )
    console.print()
    for result in found.results:
        _render_result(console, result)
    if found.unseen:
        console.print()
        _render_unseen(console, found.unseen)
    for term in found.unchecked:
        console.print(text(f"not covered: {term}", style="quiet"))
    console.print()
    failed = len(found.failures)
    console.print(
        text("certified: no check failed", style="good")
        if found.passed
        else text(f"not certified: {pluralize(failed, 'check')} failed", style="error")
    )


def _render_result(console: Console, result: CheckResult) -> None:
    from treaty.events.checks import CHECKS

    mark, style = _MARKS[result.outcome]
    line = text(f"{mark} ", style=style)
    line.append_text(text(f"{result.id:<22}", style="quiet" if result.outcome is Outcome.NOT_CHECKED else ""))
    why = f"not checked: {result.why}" if result.why else CHECKS[result.id].title
    line.append_text(text(why, style="quiet" if result.outcome is Outcome.NOT_CHECKED else ""))
    console.print(line, soft_wrap=True)
    for one in result.violations:
        style = "error" if one.severity is Severity.ERROR else "warning"
        console.print(text(f"    {describe_violations(one)}", style=style), soft_wrap=True)


def describe_violations(one: Violations) -> str:
    """Return one line about violations: how many, of what, the first key, and what must hold."""
    what = f"{one.count:,} {one.event_type or 'records'}".rstrip()
    place = f"{one.field} " if one.field else ""
    key = f"first key {one.key}" if one.key else ""
    at = f"{key} at {one.sequence}" if key and one.sequence else key
    value = f"value {one.value}" if one.value is not None else ""
    details = ", ".join(part for part in (at, value) if part)
    return f"{what}: {place}{one.message}" + (f" ({details})" if details else "")


def _render_unseen(console: Console, unseen: Sequence[Coverage]) -> None:
    console.print(text("not seen:", style="warning"))
    ordered = sorted(unseen, key=lambda one: (one.kind, one.event_type or ""))
    for (kind, event_type), group in groupby(ordered, key=lambda one: (one.kind, one.event_type)):
        names = [one.name for one in group]
        more = f" and {len(names) - _MAX_UNSEEN} more" if len(names) > _MAX_UNSEEN else ""
        where = f" of {event_type}" if event_type and kind != "event_type" else ""
        label = str(kind).replace("_", " ")
        console.print(text(f"  {label}{where}: {', '.join(names[:_MAX_UNSEEN])}{more}", style="quiet"), soft_wrap=True)
