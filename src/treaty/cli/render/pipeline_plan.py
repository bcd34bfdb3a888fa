"""Rendering of pipeline plans: steps by layer with their reasons, column lineage, and problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treaty.cli.options import AnswerFormat
from treaty.cli.render.console import MARKS, STYLES, print_to_console, text
from treaty.cli.render.output import print_data
from treaty.cli.render.plain_text import pluralize
from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import NotFound
from treaty.pipeline.plan import Layer, Mode, Plan, PlannedStep
from treaty.sql.lineage import Origins

if TYPE_CHECKING:
    from rich.console import Console


_RUNS, _IDLE = "●", "·"
_HOW = {Mode.APPEND: "new rows", Mode.FULL: "everything"}


@dataclass(frozen=True)
class PlanView:
    """A plan, the steps to show, and the columns to trace."""

    name: str
    plan: Plan
    tables: frozenset[str]
    lineage: tuple[str, ...] = ()

    @property
    def planned(self) -> tuple[PlannedStep, ...]:
        """The steps to show."""
        return tuple(one for one in self.plan.planned if one.step.table in self.tables)


def print_plan(shown: PlanView, output: AnswerFormat) -> None:
    """Print a plan."""
    found = trace_columns(shown.plan, shown.lineage)
    if output is AnswerFormat.JSON:
        print_data(plan_as_data(shown.name, shown.plan, shown.planned, found))
        return
    with print_to_console() as console:
        console.print(_title(shown))
        _render_steps(console, shown.planned)
        for trace in found:
            console.print()
            console.print(text(f"{trace.name}.{trace.column}", style="path"))
            for line in trace.lines:
                console.print(Padding(text(line), (0, 0, 0, 2)))
        _render_problems(console, shown.plan.problems)


def print_problems(problems: Sequence[Finding], output: AnswerFormat) -> None:
    """Print the problems of a project that cannot be read."""
    if output is AnswerFormat.JSON:
        data: dict[str, Any] = {"steps": [], "problems": [one.as_data() for one in problems]}
        print_data(data)
        return
    with print_to_console() as console:
        console.print(text(f"the project cannot be read: {pluralize(len(problems), 'problem')}", style="error"))
        _render_problems(console, problems)


def _title(shown: PlanView) -> Text:
    known = all(one.is_known for one in shown.planned)
    running = sum(one.would_run for one in shown.planned)
    parts = [pluralize(len(shown.planned), "step")]
    parts += [f"{running:,} would run" if running else "nothing to do"] if known else []
    errors = len(shown.plan.errors)
    others = len(shown.plan.problems) - errors
    said = text(f"{shown.name}: ", style="path").append_text(text(" · ".join(parts)))
    said.append_text(
        text(f" · {pluralize(errors, 'problem')}", style="error") if errors else text(" · no problems", "good")
    )
    return said.append_text(text(f" · {pluralize(others, 'warning')}", style="warning")) if others else said


def _render_steps(console: Console, planned: Sequence[PlannedStep]) -> None:
    for layer in Layer:
        here = [one for one in planned if one.step.layer is layer]
        if not here:
            continue
        console.print()
        console.print(text(layer, style="quiet"))
        grid = Table.grid(padding=(0, 2), pad_edge=True)
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold", ratio=1)
        for one in here:
            grid.add_row(*_row(one))
        console.print(grid)


def _row(one: PlannedStep) -> Iterator[Text]:
    idle = one.is_known and not one.would_run
    yield text(_IDLE if idle or not one.is_known else _RUNS, style="quiet" if idle else "accent")
    yield text(one.step.name, style="quiet" if idle else "path")
    yield text(_how(one), style="quiet" if idle else "")
    yield Text("\n").join(_details(one))


def _details(one: PlannedStep) -> Iterator[Text]:
    if not one.would_run:
        yield text("nothing to do", style="quiet")
    elif one.is_known:
        yield text("; ".join(reason.text for reason in one.reasons))
    reads = ", ".join(table.partition(".")[2] for table in one.step.reads if not table.endswith("_acceptances"))
    if one.step.layer not in (Layer.RAW, Layer.EVENTS):
        yield text(f"reads {reads}", style="quiet")
    if one.step.mode is Mode.FULL:
        yield text(f"always everything: {one.step.mode_reason}", style="quiet")


def _how(one: PlannedStep) -> str:
    if one.mode is Mode.KEYED and one.step.key is not None:
        return f"by {', '.join(one.step.key.columns)}"
    return _HOW.get(one.mode, one.mode)


def _render_problems(console: Console, problems: Sequence[Finding]) -> None:
    for finding in problems:
        mark = "·" if finding.severity is Severity.INFO else MARKS[finding.severity]
        line = text(f"{mark} ", style=STYLES[finding.severity])
        line.append_text(text(f"{_relative_place(finding.place)}  " if finding.place else "", style="path"))
        line.append_text(text(finding.message))
        console.print()
        console.print(line, soft_wrap=True)
        hint = f"{finding.hint}  ({finding.id})" if finding.hint else f"({finding.id})"
        console.print(Padding(text(hint, style="quiet"), (0, 0, 0, 2)))


def _relative_place(place: Place) -> str:
    """Return a place with its path relative to the current folder, if it is below."""
    return str(place).removeprefix(f"{Path.cwd()}/")


def plan_as_data(name: str, plan: Plan, planned: Sequence[PlannedStep], traces: Sequence[Trace]) -> dict[str, Any]:
    """Return a plan as plain data."""
    data: dict[str, Any] = {
        "project": name,
        "steps": [_step(one) for one in planned],
        "problems": [one.as_data() for one in plan.problems],
    }
    if traces:
        data["lineage"] = [
            {
                "name": one.name,
                "column": one.column,
                "from": _origins(one.origins),
                "events": _origins(one.events),
            }
            for one in traces
        ]
    return data


def _step(one: PlannedStep) -> dict[str, Any]:
    step = one.step
    key = None
    if step.key is not None:
        key = {"columns": list(step.key.columns), "inputs": {name: list(of) for name, of in step.key.inputs.items()}}
    return {
        "name": step.name,
        "layer": step.layer.value,
        "table": step.table,
        "reads": list(step.reads),
        "contract": f"{step.contract.id} {step.contract.version}",
        "mode": step.mode.value,
        "mode_reason": step.mode_reason,
        "key": key,
        "digest": step.digest,
        "would_run": one.would_run if one.is_known else None,
        "this_time": one.mode.value if one.would_run and one.is_known else None,
        "why": [{"cause": reason.cause.value, "words": reason.text} for reason in one.reasons],
    }


def _origins(origins: Origins) -> list[str]:
    return [f"{one.input}.{one.column}" for one in sorted(origins)]


EVERYTHING = "*"


@dataclass(frozen=True)
class Trace:
    """A column, the fields that it is computed from, and the event fields that these come from."""

    name: str
    column: str
    origins: Origins
    events: Origins

    @property
    def lines(self) -> tuple[str, ...]:
        """The origins of the column, one line each."""
        if not self.origins:
            return ("computed from no column",)
        behind = (f"which come from {_listed(self.events)}",) if self.events != self.origins else ()
        return (f"from {_listed(self.origins)}", *behind)


def trace_columns(plan: Plan, asked: Sequence[str]) -> tuple[Trace, ...]:
    """Return the origins of the requested columns: NAME, NAME.COLUMN or *."""
    return tuple(trace for wish in asked for trace in _traces(plan, wish))


def _traces(plan: Plan, wish: str) -> Iterator[Trace]:
    name, _, column = wish.partition(".")
    names = list(plan.lineage) if wish == EVERYTHING else [name]
    for one in names:
        if one not in plan.lineage:
            raise _unknown(one, list(plan.lineage), "there is no step with columns called")
        found, behind = plan.lineage[one], plan.traced(one)
        if column and column not in found:
            raise _unknown(column, list(found), f"{one} has no column")
        for each in [column] if column else list(found):
            yield Trace(one, each, found[each], behind[each])


def _unknown(name: str, known: list[str], what: str) -> NotFound:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"the names are: {', '.join(known) or 'none'}"
    return NotFound(f"{what} {name!r}; {hint}")


def _listed(origins: Origins) -> str:
    return ", ".join(f"{one.input}.{one.column}" for one in sorted(origins))
