"""The pace of steps with `treaty run --follow`: when records arrive, or on a schedule, as contracts promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.contracts.model import Contract
from treaty.contracts.quantities import parse_seconds
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Kafka, Layer, Project

DEFAULT_INTERVAL_S = 10.0
"""The pause between runs, unless the user gives another one."""
FAST_WITHIN_S = 120.0
"""A publication that promises this or less is computed as soon as records arrive."""
PROMISED_SHARE = 0.5
"""Other publications are computed after this share of what they promise has passed."""


@dataclass(frozen=True, order=True)
class Pace:
    """How often a step runs: `every` seconds, or 0 for as soon as records arrive; and why."""

    every: float
    reason: str

    @property
    def is_fast(self) -> bool:
        """Whether the step runs as soon as records arrive."""
        return self.every == 0


def follow_paces(project: Project, steps: Sequence[Step], interval_s: float) -> dict[str, Pace]:
    """Return the pace of each step by its table; without any topic among the sources, all steps have one pace."""
    if any(isinstance(source.origin, Kafka) for source in project.sources):
        return step_paces(steps, interval_s)
    return {step.table: Pace(interval_s, "no source is a topic") for step in steps}


def step_paces(steps: Sequence[Step], interval_s: float) -> dict[str, Pace]:
    """Return the pace of each step by its table: that of the fastest publication that is computed from it.

    `interval_s` is the pace of publications that promise nothing, and the shortest schedule.
    """
    read_by: dict[str, list[str]] = {step.table: [] for step in steps}
    for step in steps:
        for table in step.reads:
            if table in read_by:
                read_by[table].append(step.table)
    paces: dict[str, Pace] = {}
    for step in reversed(steps):  # steps follow what they read
        if step.layer is Layer.PUBLICATIONS:
            paces[step.table] = publication_pace(step.name, step.contract, interval_s)
        else:
            known = [paces[table] for table in read_by[step.table] if table in paces]
            paces[step.table] = min(known, default=Pace(interval_s, "no publication reads it"))
    return paces


def publication_pace(name: str, contract: Contract, interval_s: float) -> Pace:
    """Return the pace of a publication by the latency of its contract."""
    within = contract.treaty.latency.within if contract.treaty.latency else None
    seconds = parse_seconds(within) if within is not None else None
    if within is None or seconds is None:
        return Pace(interval_s, f"{name} promises no latency")
    if seconds <= FAST_WITHIN_S:
        return Pace(0, f"{name} promises {within}")
    return Pace(max(interval_s, float(seconds) * PROMISED_SHARE), f"{name} promises {within}")


def reached_from(steps: Sequence[Step], sources: frozenset[str]) -> frozenset[str]:
    """Return the tables of the steps that new records of some sources reach."""
    reached: set[str] = set()
    for step in steps:
        is_source = step.layer is Layer.RAW and step.name in sources
        if is_source or reached & set(step.reads):
            reached.add(step.table)
    return frozenset(reached)


def describe_pace(pace: Pace) -> str:
    """Return a pace as a text."""
    return f"when records arrive: {pace.reason}" if pace.is_fast else f"every {_duration(pace.every)}: {pace.reason}"


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
