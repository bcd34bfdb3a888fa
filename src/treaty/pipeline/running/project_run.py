"""Running a project: one run at a time, from the plan of what it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from treaty.contracts import Contract
from treaty.errors import Refused
from treaty.pipeline.declarations import Line, Project
from treaty.pipeline.planning import Layer, Plan, plan, select
from treaty.pipeline.promotion import NOT_ACTIVE
from treaty.pipeline.running.happenings import Teller, nobody
from treaty.pipeline.running.locking import Holder, here, locked
from treaty.pipeline.running.runner import number_for, run_steps
from treaty.pipeline.running.summary import RunSummary
from treaty.pipeline.running.work import Run
from treaty.pipeline.sources.known import ARRIVALS
from treaty.pipeline.tables import Tables


@dataclass(frozen=True)
class Wish:
    """What somebody wants of a run."""

    select: tuple[str, ...] = ()
    anew: bool = False
    """Build everything that is chosen anew, whatever the tables say."""
    from_raw: bool = False
    """Leave the sources alone, and build from what has arrived."""
    wait: float = 0.0
    """Seconds to wait for another run to end."""
    at_once: int = 3
    """So many steps work at a time: while one is planned, another computes."""


@dataclass(frozen=True)
class Means:
    """What a run works with beside the tables."""

    tell: Teller = nobody
    waiting: Callable[[Holder | None], None] | None = None
    jdbc_password: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)


def run_project(
    tables: Tables,
    project: Project,
    contracts: dict[Line, Contract],
    wish: Wish | None = None,
    means: Means | None = None,
    now: datetime | None = None,
) -> RunSummary:
    """Run what a project declares, or what is chosen of it; a plan that cannot work is refused before anything runs."""
    wish, means, moment = wish or Wish(), means or Means(), now or datetime.now(UTC)
    made = sound_plan(project, contracts)
    chosen = [step for step in select(made.steps, wish.select) if not (wish.from_raw and step.layer is Layer.RAW)]
    milliseconds = int(moment.timestamp() * 1000)
    with locked(project.folder, here(milliseconds, moment), wish.wait, means.waiting):
        tables.make_room((ARRIVALS, *Layer))
        stamps = {step.table: tables.stamp(step.table) for step in made.steps}
        number = number_for(stamps.values(), milliseconds)
        anew = frozenset(step.table for step in chosen if step.layer is not Layer.RAW) if wish.anew else frozenset()
        run = Run(number, moment, project, contracts, tables, means.tell, means.jdbc_password, means.secret, stamps)
        return run_steps(run, made.steps, chosen, anew=anew, at_once=wish.at_once)


def sound_plan(project: Project, contracts: dict[Line, Contract]) -> Plan:
    """Return the plan of a project, unless something about it cannot work; the gate is kept step by step."""
    made = plan(project, contracts)
    wrong = tuple(one for one in made.errors if one.id != NOT_ACTIVE)
    if wrong:
        raise Refused(f"the project cannot run: {len(wrong)} problem{'s' * (len(wrong) > 1)}; see treaty plan", wrong)
    return made
