"""The pipeline on Spark: a full run against a hand-written job, and one more day of events on a longer history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.pipeline import full_run, incremental_run, small_run
from benchmarks.pipeline.duration_estimate import estimate
from benchmarks.pipeline.machine import machine
from benchmarks.pipeline.progress import report_progress
from benchmarks.pipeline.session import Given

CASES: Mapping[str, Callable[[int, int, Given], str]] = {
    "full run": full_run.run,
    "incremental": incremental_run.run,
    "small runs": small_run.run,
}
EVENTS = {"full run": 5_000_000, "incremental": 200_000, "small runs": 3_570}
ROUNDS = {"full run": 1, "incremental": 2, "small runs": 3}


def run(
    events: int | None = None,
    history: int | None = None,
    rounds: int | None = None,
    cases: Sequence[str] = tuple(CASES),
    given: Given | None = None,
) -> str:
    """Measure the cases and return their tables."""
    given = given or Given()
    asked = {"full run": events, "incremental": history, "small runs": None}
    sizes = {case: (asked[case] or EVENTS[case], rounds or ROUNDS[case]) for case in cases}
    report_progress(estimate(sizes))
    tables = [CASES[case](*sizes[case], given) for case in cases]
    return "\n\n".join([*tables, f"{machine()} {given}. CPU is that of the whole process tree."])
