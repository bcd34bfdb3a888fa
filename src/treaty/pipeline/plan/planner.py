"""The plan of a project: its steps in order, what would run and why, where columns come from, and what is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.errors import NotFound
from treaty.pipeline.plan.reasons import Planned, planned
from treaty.pipeline.plan.reconciliation_builder import reconciliation_step
from treaty.pipeline.plan.step_builder import Lineage, Looking, Made, product_step, publication_step, source_steps
from treaty.pipeline.plan.steps import Layer, Step
from treaty.pipeline.project.declarations import Line, Product, Project
from treaty.pipeline.project.promotion import promotion
from treaty.sql.lineage import trace_through

if TYPE_CHECKING:
    from treaty.pipeline.tables import Stamp


@dataclass(frozen=True)
class Plan:
    """What a run would do."""

    project: Project
    planned: tuple[Planned, ...]
    problems: tuple[Finding, ...]
    lineage: Mapping[str, Lineage] = field(default_factory=dict)
    """By the name of a product, reconciliation or publication: its columns, and the fields they are made from."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in the order in which they run."""
        return tuple(one.step for one in self.planned)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The problems that stop a run."""
        return tuple(one for one in self.problems if one.severity is Severity.ERROR)

    def traced(self, name: str) -> Lineage:
        """Return the columns of a declaration with the fields of events that they are made from."""
        found = self.lineage[name]
        for _ in Layer:
            found = trace_through(found, self.lineage)
        return found


def plan(
    project: Project,
    contracts: Mapping[Line, Contract],
    states: Mapping[str, Stamp | None] | None = None,
    arriving: Mapping[str, str | None] | None = None,
) -> Plan:
    """Plan a project.

    `states` are the stamps of tables as they are, `arriving` what is new in each source, in words; without them it is
    not known what would run.
    """
    looking = Looking(project, contracts)
    looking.problems += promotion(project, contracts)
    steps: list[Step] = []
    lineage: dict[str, Lineage] = {}
    for step, made in _made(looking):
        steps.append(step)
        if made:
            lineage[step.name] = made
    running: list[str] = []
    found: list[Planned] = []
    for step in steps:
        one = planned(step, states, arriving, running)
        found.append(one)
        running += [step.table] if one.would_run else []
    problems = sorted(dict.fromkeys(looking.problems), key=_by_place)
    return Plan(project, tuple(found), tuple(problems), lineage)


def _made(looking: Looking) -> Iterator[Made]:
    project = looking.project
    sources = [made for one in sorted(project.sources, key=_name) for made in source_steps(looking, one)]
    for layer in (Layer.RAW, Layer.EVENTS):
        yield from (made for made in sources if made[0].layer is layer)
    whole = {one.name for one in project if looking.is_plain(one)}
    for product in _products(looking):
        if {product.name, *product.sources, *product.enrichments} <= whole:
            yield product_step(looking, product)
    for reconciliation in sorted(project.reconciliations, key=_name):
        if {reconciliation.name, *(claim.product for claim in reconciliation.claims)} <= whole:
            yield reconciliation_step(looking, reconciliation)
    for publication in sorted(project.publications, key=_name):
        if {publication.name, *publication.inputs} <= whole:
            yield publication_step(looking, publication)


def _products(looking: Looking) -> Sequence[Product]:
    """Return products after those that they are enriched with; a circle among them is a problem."""
    products = {one.name: one for one in looking.project.products}
    order, circle = in_order({name: one.enrichments for name, one in products.items()})
    if circle:
        words = " → ".join((*circle, circle[0]))
        looking.note(
            products[circle[0]],
            "cycle",
            f"products are enriched with each other in a circle: {words}",
            "take one of them out of 'with', or make a product of what both need",
        )
    return [products[name] for name in order]


def _name(declared: object) -> str:
    return str(getattr(declared, "name", ""))


def _by_place(finding: Finding) -> tuple[int, str, int, str]:
    place = finding.place
    return (finding.severity.rank, place.source if place else "", (place.line or 0) if place else 0, finding.message)


def in_order(reads: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names so that each comes after those that it reads, and those that read each other in a circle."""
    waiting = {name: {one for one in others if one in reads} for name, others in reads.items()}
    done: list[str] = []
    while ready := sorted(name for name, others in waiting.items() if others <= set(done)):
        done.append(ready[0])
        del waiting[ready[0]]
    return tuple(done), tuple(_circle(waiting))


def _circle(waiting: Mapping[str, set[str]]) -> list[str]:
    """Follow what is read until a name comes back."""
    if not waiting:
        return []
    seen = [min(waiting)]
    while True:
        following = min(one for one in waiting[seen[-1]] if one in waiting)
        if following in seen:
            return seen[seen.index(following) :]
        seen.append(following)


_MARK = "+"


def select(steps: Sequence[Step], wanted: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps that are meant, in their order; without a wish, all."""
    if not wanted:
        return tuple(steps)
    reads = {step.table: step.reads for step in steps}
    read_by = {table: tuple(other for other, tables in reads.items() if table in tables) for table in reads}
    chosen: set[str] = set()
    for wish in wanted:
        name = wish.removeprefix(_MARK).removesuffix(_MARK)
        found = {step.table for step in steps if name in (step.name, step.table)}
        if not found:
            raise _unknown(name, steps)
        chosen |= found
        chosen |= _reached(found, read_by) if wish.endswith(_MARK) else set()
        chosen |= _reached(found, reads) if wish.startswith(_MARK) else set()
    return tuple(step for step in steps if step.table in chosen)


def _reached(start: set[str], ways: Mapping[str, Sequence[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        for one in ways.get(waiting.pop(), ()):
            if one in ways and one not in reached:
                reached.add(one)
                waiting.append(one)
    return reached


def _unknown(name: str, steps: Sequence[Step]) -> NotFound:
    known = list(dict.fromkeys(step.name for step in steps))
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"
    return NotFound(f"the project declares no {name!r}; {hint}")
