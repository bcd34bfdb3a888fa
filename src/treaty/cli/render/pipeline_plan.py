"""Rendering of pipeline plans: steps by layer with their reasons, column lineage, and problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from treaty.consumers.dependencies import CHANGE_FEED_LABEL
from treaty.contracts.findings import Finding, Severity
from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.feeds import LegacyFeed
from treaty.pipeline.plan import Layer, Mode, Plan, PlannedStep, Step
from treaty.pipeline.plan.change_feeds import is_change_feed
from treaty.pipeline.plan.contract_lineage import filters_by_column, row_filters
from treaty.pipeline.plan.pace import DEFAULT_INTERVAL_S, Pace, describe_pace, follow_paces
from treaty.pipeline.project.declarations import ConsumerDelivery, Kafka, Project, Publication
from treaty.sql.lineage import Origins
from treaty.suggestions import did_you_mean

if TYPE_CHECKING:
    from rich.console import Console


_RUNS, _IDLE = "●", "·"
_PLACES = {"feed": "files in", "topic": "topic", "table": "table", "view": "view"}
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
        return tuple(step for step in self.plan.planned if step.step.table in self.tables)


def print_plan(view: PlanView, output: AnswerFormat) -> None:
    """Print a plan."""
    traces = trace_columns(view.plan, view.lineage)
    if output is AnswerFormat.JSON:
        print_data(plan_as_data(view.name, view.plan, view.planned, traces))
        return
    with print_to_console() as console:
        console.print(_title(view))
        _render_steps(console, view.planned, _paces(view.plan))
        _render_deliveries(console, view.planned)
        _render_legacy_feeds(console, view.plan.project)
        for trace in traces:
            console.print()
            console.print(text(f"{trace.name}.{trace.column}", style="path"))
            for line in trace.lines:
                console.print(Padding(text(line), (0, 0, 0, 2)))
        _render_problems(console, view.plan.problems)


def _paces(plan: Plan) -> dict[str, Pace]:
    """Return the pace of each step with `--follow`; none for a project without topics, which runs as a whole."""
    if not any(isinstance(source.origin, Kafka) for source in plan.project.sources):
        return {}
    return follow_paces(plan.project, plan.steps, DEFAULT_INTERVAL_S)


def print_problems(problems: Sequence[Finding], output: AnswerFormat) -> None:
    """Print the problems of a project that cannot be read."""
    if output is AnswerFormat.JSON:
        data: dict[str, Any] = {"steps": [], "problems": [problem.as_data() for problem in problems]}
        print_data(data)
        return
    with print_to_console() as console:
        console.print(text(f"the project cannot be read: {pluralize(len(problems), 'problem')}", style="error"))
        _render_problems(console, problems)


def _title(view: PlanView) -> Text:
    known = all(step.is_known for step in view.planned)
    running = sum(step.would_run for step in view.planned)
    parts = [pluralize(len(view.planned), "step")]
    parts += [f"{running:,} would run" if running else "nothing to do"] if known else []
    errors = len(view.plan.errors)
    others = len(view.plan.problems) - errors
    line = text(f"{view.name}: ", style="path").append_text(text(" · ".join(parts)))
    line.append_text(
        text(f" · {pluralize(errors, 'problem')}", style="error") if errors else text(" · no problems", "good")
    )
    return line.append_text(text(f" · {pluralize(others, 'warning')}", style="warning")) if others else line


def _render_steps(console: Console, planned: Sequence[PlannedStep], paces: Mapping[str, Pace]) -> None:
    for layer in Layer:
        here = [step for step in planned if step.step.layer is layer]
        if not here:
            continue
        console.print()
        console.print(text(layer, style="quiet"))
        grid = Table.grid(padding=(0, 2), pad_edge=True)
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold", ratio=1)
        for trace in here:
            grid.add_row(*_row(trace, paces.get(trace.step.table)))
        console.print(grid)


def _render_deliveries(console: Console, planned: Sequence[PlannedStep]) -> None:
    """Render what the publications deliver to single consumers, once they have published."""
    delivering = [(step, delivery) for step in planned for delivery in _deliveries(step.step)]
    if not delivering:
        return
    console.print()
    console.print(text("deliveries", style="quiet"))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    for _ in range(3):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for step, delivery in delivering:
        region = text(f"in {delivery.region}") if delivery.region else text("no region", style="quiet")
        targets = text("; ".join(f"{_PLACES[kind]} {_relative(name)}" for kind, name in _targets(step.step, delivery)))
        grid.add_row(_mark(step), text(f"{step.step.name} for {delivery.consumer}", style="path"), region, targets)
    console.print(grid)


def _deliveries(step: Step) -> tuple[ConsumerDelivery, ...]:
    return step.declared.deliveries if isinstance(step.declared, Publication) else ()


def _targets(step: Step, delivery: ConsumerDelivery) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of each place where a consumer gets its rows."""
    own_feed, table = delivery.own_feed, step.table.partition(".")[2]
    if own_feed is not None:
        yield "feed", f"{own_feed.folder}/{table}"
    if delivery.topic is not None:
        yield "topic", delivery.topic.name
    if (own_table := delivery.own_table(table)) is not None:
        yield "table", own_table
    if delivery.own_view is not None:
        yield "view", delivery.own_view


def _render_legacy_feeds(console: Console, project: Project) -> None:
    """Render the legacy feeds as what they are: data without a contract, and what replaces or emulates them."""
    if not project.legacy:
        return
    console.print()
    console.print(text("legacy feeds, without a contract", style="quiet"))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for feed in project.legacy:
        grid.add_row(text(feed.name, style="path"), text("; ".join(_feed_facts(project, feed))))
    console.print(grid)


def _feed_facts(project: Project, feed: LegacyFeed) -> Iterator[str]:
    yield f"{feed.owner}, {feed.produced}" if feed.produced else feed.owner
    yield f"read by {', '.join(feed.consumers)}" if feed.consumers else "nobody is known to read it"
    if feed.comparison is not None:
        yield f"compared with {feed.comparison.publication}"
    if emulations := [one.name for one in project.publications if one.emulates == feed.name]:
        yield f"emulated by {', '.join(emulations)}"


def _row(planned_step: PlannedStep, pace: Pace | None) -> Iterator[Text]:
    idle = _is_idle(planned_step)
    yield _mark(planned_step)
    yield text(planned_step.step.name, style="quiet" if idle else "path")
    yield text(_how(planned_step), style="quiet" if idle else "")
    yield Text("\n").join(_details(planned_step, pace))


def _mark(planned_step: PlannedStep) -> Text:
    idle = _is_idle(planned_step)
    return text(_IDLE if idle or not planned_step.is_known else _RUNS, style="quiet" if idle else "accent")


def _is_idle(planned_step: PlannedStep) -> bool:
    return planned_step.is_known and not planned_step.would_run


def _details(planned_step: PlannedStep, pace: Pace | None) -> Iterator[Text]:
    if not planned_step.would_run:
        yield text("nothing to do", style="quiet")
    elif planned_step.is_known:
        yield text("; ".join(reason.text for reason in planned_step.reasons))
    if is_change_feed(planned_step.step.declared):
        yield text(CHANGE_FEED_LABEL, style="warning")
    reads = ", ".join(
        table.partition(".")[2] for table in planned_step.step.reads if not table.endswith("_acceptances")
    )
    if planned_step.step.layer not in (Layer.RAW, Layer.EVENTS):
        yield text(f"reads {reads}", style="quiet")
    if pace is not None and planned_step.step.layer is Layer.PUBLICATIONS:
        yield text(f"with --follow {describe_pace(pace)}", style="quiet")
    if planned_step.step.mode is Mode.FULL:
        yield text(f"always everything: {planned_step.step.mode_reason}", style="quiet")


def _how(planned_step: PlannedStep) -> str:
    if planned_step.mode is Mode.KEYED and planned_step.step.key is not None:
        return f"by {', '.join(planned_step.step.key.columns)}"
    return _HOW.get(planned_step.mode, planned_step.mode)


def _render_problems(console: Console, problems: Sequence[Finding]) -> None:
    for finding in problems:
        mark = "·" if finding.severity is Severity.INFO else MARKS[finding.severity]
        line = text(f"{mark} ", style=STYLES[finding.severity])
        line.append_text(text(f"{_relative(str(finding.place))}  " if finding.place else "", style="path"))
        line.append_text(text(finding.message))
        console.print()
        console.print(line, soft_wrap=True)
        hint = f"{finding.hint}  ({finding.id})" if finding.hint else f"({finding.id})"
        console.print(Padding(text(hint, style="quiet"), (0, 0, 0, 2)))


def _relative(path: str) -> str:
    """Return a path relative to the current folder, if it is below."""
    return path.removeprefix(f"{Path.cwd()}/")


def plan_as_data(name: str, plan: Plan, planned: Sequence[PlannedStep], traces: Sequence[Trace]) -> dict[str, Any]:
    """Return a plan as plain data."""
    paces = _paces(plan)
    data: dict[str, Any] = {
        "project": name,
        "steps": [_step(step, paces.get(step.step.table)) for step in planned],
        "legacy_feeds": [_feed(plan.project, feed) for feed in plan.project.legacy],
        "problems": [problem.as_data() for problem in plan.problems],
    }
    if traces:
        data["lineage"] = [
            {
                "name": trace.name,
                "column": trace.column,
                "from": _origins(trace.origins),
                "events": _origins(trace.events),
                "filters": _origins(trace.filters),
                "row_filters": _origins(trace.row_filters),
            }
            for trace in traces
        ]
    return data


def _feed(project: Project, feed: LegacyFeed) -> dict[str, Any]:
    return {
        "name": feed.name,
        "owner": feed.owner,
        "produced": feed.produced,
        "consumers": list(feed.consumers),
        "publication": feed.comparison.publication if feed.comparison else None,
        "emulated_by": [one.name for one in project.publications if one.emulates == feed.name],
    }


def _step(planned_step: PlannedStep, pace: Pace | None) -> dict[str, Any]:
    step = planned_step.step
    key = None
    if step.key is not None:
        key = {"columns": list(step.key.columns), "inputs": {name: list(of) for name, of in step.key.inputs.items()}}
    return {
        "name": step.name,
        "layer": step.layer.value,
        "is_change_feed": is_change_feed(step.declared),
        "table": step.table,
        "reads": list(step.reads),
        "contract": f"{step.contract.id} {step.contract.version}",
        "mode": step.mode.value,
        "mode_reason": step.mode_reason,
        "key": key,
        "digest": step.digest,
        "pace": describe_pace(pace) if pace else None,
        "would_run": planned_step.would_run if planned_step.is_known else None,
        "this_time": planned_step.mode.value if planned_step.would_run and planned_step.is_known else None,
        "deliveries": [_delivery(step, delivery) for delivery in _deliveries(step)],
        "why": [{"cause": reason.cause.value, "words": reason.text} for reason in planned_step.reasons],
    }


def _delivery(step: Step, delivery: ConsumerDelivery) -> dict[str, Any]:
    return {"consumer": delivery.consumer, "region": delivery.region, **dict(_targets(step, delivery))}


def _origins(origins: Origins) -> list[str]:
    return [f"{origin.input}.{origin.column}" for origin in sorted(origins)]


EVERYTHING = "*"


@dataclass(frozen=True)
class Trace:
    """A column, the fields that it is computed from, and the event fields that these come from.

    Filters are what OpenLineage calls indirect: fields that select rows, of the step or of a subquery in the column.
    """

    name: str
    column: str
    origins: Origins
    events: Origins
    filters: Origins = frozenset()
    row_filters: Origins = frozenset()

    @property
    def lines(self) -> tuple[str, ...]:
        """The origins of the column, one line each."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[str]:
        if self.origins:
            yield f"from {_listed(self.origins)}"
        elif not self.filters:
            yield "computed from no column"
        if self.events != self.origins:
            yield f"which come from {_listed(self.events)}"
        if self.filters:
            yield f"filters {_listed(self.filters)}"
        if self.row_filters:
            yield f"rows filtered by {_listed(self.row_filters)}"


def trace_columns(plan: Plan, requests: Sequence[str]) -> tuple[Trace, ...]:
    """Return the origins of the requested columns: NAME, NAME.COLUMN or *."""
    return tuple(trace for request in requests for trace in _traces(plan, request))


def _traces(plan: Plan, request: str) -> Iterator[Trace]:
    name, _, column = request.partition(".")
    names = list(plan.lineage) if request == EVERYTHING else [name]
    for one in names:
        if one not in plan.lineage:
            raise _unknown(one, list(plan.lineage), "there is no step with columns called")
        column_lineage, behind = plan.lineage[one], plan.traced(one)
        if column and column not in column_lineage:
            raise _unknown(column, list(column_lineage), f"{one} has no column")
        step = next(step for step in plan.steps if step.name == one)
        filters, rows = _filters(plan, step)
        for each in [column] if column else list(column_lineage):
            yield Trace(one, each, column_lineage[each], behind[each], filters.get(each, frozenset()), rows)


def _filters(plan: Plan, step: Step) -> tuple[Mapping[str, Origins], Origins]:
    """Return the filters of the columns and rows of a step; none if its SQL has problems, which the plan lists."""
    try:
        return filters_by_column(step), row_filters(plan, step)
    except InvalidDocument:
        return {}, frozenset()


def _unknown(name: str, known: list[str], what: str) -> NotFound:
    hint = did_you_mean(name, known, f"the names are: {', '.join(known) or 'none'}")
    return NotFound(f"{what} {name!r}; {hint}")


def _listed(origins: Origins) -> str:
    return ", ".join(f"{origin.input}.{origin.column}" for origin in sorted(origins))
