"""The planner: the steps of a project in order, what would run and why, lineage of columns, and problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import NotFound
from treaty.pipeline.plan.delivery_checks import find_delivery_problems, find_refused_deliveries
from treaty.pipeline.plan.legacy_feeds import find_emulation_problems, find_feed_problems
from treaty.pipeline.plan.reasons import PlannedStep, plan_step
from treaty.pipeline.plan.reconciliation_builder import reconciliation_step
from treaty.pipeline.plan.step_builder import (
    BuiltStep,
    Lineage,
    PlanContext,
    product_step,
    publication_step,
    source_steps,
)
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Layer, Product, Project
from treaty.pipeline.project.promotion import check_project_status
from treaty.sql.lineage import trace_through
from treaty.suggestions import did_you_mean

if TYPE_CHECKING:
    from datetime import datetime

    from treaty.pipeline.tables import Stamp
    from treaty.policy import FindConsumerView


@dataclass(frozen=True)
class Plan:
    """What a run would do."""

    project: Project
    planned: tuple[PlannedStep, ...]
    problems: tuple[Finding, ...]
    lineage: Mapping[str, Lineage] = field(default_factory=dict)
    """By name of a product, reconciliation or publication: its columns and the fields that they are derived from."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in the order in which they run."""
        return tuple(planned.step for planned in self.planned)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The problems that prevent a run."""
        return tuple(finding for finding in self.problems if finding.severity is Severity.ERROR)

    def traced(self, name: str) -> Lineage:
        """Return the columns of a declaration with the fields of events that they are derived from."""
        lineage = self.lineage[name]
        for _ in Layer:
            lineage = trace_through(lineage, self.lineage)
        return lineage


def plan(
    project: Project,
    contracts: Mapping[Line, Contract],
    states: Mapping[str, Stamp | None] | None = None,
    arriving: Mapping[str, str | None] | None = None,
    now: datetime | None = None,
    find_view: FindConsumerView | None = None,
) -> Plan:
    """Plan a project.

    `states` are the published stamps of the tables, `arriving` describes what is new in each source, `now` decides
    whether delayed rows have become visible. Without them the plan does not know which steps would run. `find_view`
    finds what consumers may read; without it, deliveries to them are not checked against the registry.
    """
    context = PlanContext(project, contracts)
    context.problems += check_project_status(project, contracts)
    context.problems += find_feed_problems(project, contracts)
    context.problems += find_emulation_problems(project, contracts)
    steps: list[Step] = []
    lineage: dict[str, Lineage] = {}
    for step, columns in _build_steps(context):
        steps.append(step)
        if columns:
            lineage[step.name] = columns
    running: list[str] = []
    planned: list[PlannedStep] = []
    for step in steps:
        planned_step = plan_step(step, states, arriving, running, now)
        planned.append(planned_step)
        running += [step.table] if planned_step.would_run else []
    context.problems += find_delivery_problems(project)
    if find_view is not None:
        context.problems += find_refused_deliveries(project, contracts, find_view)
    problems = sorted(dict.fromkeys(context.problems), key=_by_place)
    return Plan(project, tuple(planned), tuple(problems), lineage)


def _build_steps(context: PlanContext) -> Iterator[BuiltStep]:
    project = context.project
    sources = [built for source in sorted(project.sources, key=_name) for built in source_steps(context, source)]
    for layer in (Layer.RAW, Layer.EVENTS):
        yield from (built for built in sources if built[0].layer is layer)
    valid = {declared.name for declared in project if context.has_one_object(declared)}
    for product in _products(context):
        if {product.name, *product.sources, *product.enrichments} <= valid:
            yield product_step(context, product)
    for reconciliation in sorted(project.reconciliations, key=_name):
        if {reconciliation.name, *(claim.product for claim in reconciliation.claims)} <= valid:
            yield reconciliation_step(context, reconciliation)
    for publication in sorted(project.publications, key=_name):
        if {publication.name, *publication.inputs} <= valid:
            yield publication_step(context, publication)


def _products(context: PlanContext) -> Sequence[Product]:
    """Return the products in an order in which each follows its enrichments; a cycle is a problem."""
    products = {product.name: product for product in context.project.products}
    order, cycle = sort_by_dependency({name: product.enrichments for name, product in products.items()})
    if cycle:
        cycle_text = " → ".join((*cycle, cycle[0]))
        context.report(
            products[cycle[0]],
            "cycle",
            f"products enrich each other in a cycle: {cycle_text}",
            "remove one of them from 'with', or move what both need into a third product",
        )
    return [products[name] for name in order]


def _name(declared: object) -> str:
    return str(getattr(declared, "name", ""))


def _by_place(finding: Finding) -> tuple[int, str, int, str]:
    place = finding.place
    return (finding.severity.rank, place.source if place else "", (place.line or 0) if place else 0, finding.message)


def sort_by_dependency(reads: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in an order in which each follows those that it reads, and the names of a cycle, if any."""
    waiting = {name: {other for other in others if other in reads} for name, others in reads.items()}
    done: list[str] = []
    while ready := sorted(name for name, others in waiting.items() if others <= set(done)):
        done.append(ready[0])
        del waiting[ready[0]]
    return tuple(done), tuple(_find_cycle(waiting))


def _find_cycle(waiting: Mapping[str, set[str]]) -> list[str]:
    """Follow the names that are read until one repeats."""
    if not waiting:
        return []
    seen = [min(waiting)]
    while True:
        following = min(name for name in waiting[seen[-1]] if name in waiting)
        if following in seen:
            return seen[seen.index(following) :]
        seen.append(following)


_MARK = "+"


def select(steps: Sequence[Step], selection: Sequence[str]) -> tuple[Step, ...]:
    """Return the selected steps in order: NAME, NAME+ with everything downstream, +NAME with everything upstream.

    Without a selection, all steps are returned.
    """
    if not selection:
        return tuple(steps)
    reads = {step.table: step.reads for step in steps}
    read_by = {table: tuple(other for other, tables in reads.items() if table in tables) for table in reads}
    chosen: set[str] = set()
    for name_pattern in selection:
        name = name_pattern.removeprefix(_MARK).removesuffix(_MARK)
        matching = {step.table for step in steps if name in (step.name, step.table)}
        if not matching:
            raise _unknown(name, steps)
        chosen |= matching
        chosen |= _reachable(matching, read_by) if name_pattern.endswith(_MARK) else set()
        chosen |= _reachable(matching, reads) if name_pattern.startswith(_MARK) else set()
    return tuple(step for step in steps if step.table in chosen)


def _reachable(start: set[str], edges: Mapping[str, Sequence[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        for table in edges.get(waiting.pop(), ()):
            if table in edges and table not in reached:
                reached.add(table)
                waiting.append(table)
    return reached


def _unknown(name: str, steps: Sequence[Step]) -> NotFound:
    known = list(dict.fromkeys(step.name for step in steps))
    hint = did_you_mean(name, known, f"there are: {', '.join(known)}")
    return NotFound(f"the project has no {name!r}; {hint}")
