"""The pipeline on Spark: the whole path against a job written by hand, and a day of trade on a longer history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.pipeline import growing, whole_path
from benchmarks.pipeline.estimating import estimate
from benchmarks.pipeline.machine import machine
from benchmarks.pipeline.session import Given
from benchmarks.pipeline.telling import tell

CASES: Mapping[str, Callable[[int, int, Given], str]] = {"whole path": whole_path.run, "growing": growing.run}
EVENTS = {"whole path": 5_000_000, "growing": 200_000}
ROUNDS = {"whole path": 1, "growing": 2}


def run(
    events: int | None = None,
    history: int | None = None,
    rounds: int | None = None,
    cases: Sequence[str] = tuple(CASES),
    given: Given | None = None,
) -> str:
    """Measure the cases and return their tables."""
    given = given or Given()
    asked = {"whole path": events, "growing": history}
    sizes = {case: (asked[case] or EVENTS[case], rounds or ROUNDS[case]) for case in cases}
    tell(estimate(sizes))
    tables = [CASES[case](*sizes[case], given) for case in cases]
    return "\n\n".join([*tables, f"{machine()} {given}. CPU is that of the whole process tree."])
