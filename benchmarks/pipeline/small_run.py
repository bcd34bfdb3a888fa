"""Small runs on a warm session: seconds, Spark jobs and commits of some hundred events, of one, and of none."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.enforce.process_usage import cpu_seconds
from benchmarks.pipeline import treaty_run
from benchmarks.pipeline.event_files import ensure_written, events_in, files_in, options_for
from benchmarks.pipeline.session import Given, session
from benchmarks.pipeline.workspaces import deliver, landing, workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DAYS = 30
_SLICE = 302
_LATER_WAVES = 12
_VERSION = re.compile(r"/(\d+)-[^/]*\.metadata\.json$")


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    seconds: float
    cpu: float
    """Processor seconds of the whole process tree, which say more than the seconds on a busy machine."""
    jobs: int
    commits: int


def run(events: int, rounds: int, given: Given) -> str:
    """Measure small runs after a history of so many events; the first slice only warms the session up."""
    history = ensure_written(replace(options_for(events, _DAYS), wave=1))
    later = [ensure_written(replace(options_for(events, _DAYS), wave=wave)) for wave in range(2, _LATER_WAVES + 2)]
    slices = _slices([file for wave in later for file in files_in(wave)])
    with workspace("small") as folder:
        spark = session(folder, treaty_run.CATALOG, given)
        try:
            deliver(history, folder)
            treaty_run.run(spark, folder)
            _arrive(folder, "warm", next(slices)(_SLICE))
            treaty_run.run(spark, folder)
            costs: dict[str, list[Cost]] = {f"{_SLICE} events": [], "one event": [], "nothing new": []}
            for number in range(rounds):
                for measured, count in zip(costs.values(), (_SLICE, 1, 0), strict=True):
                    _arrive(folder, f"{number}-{count}", next(slices)(count))
                    measured.append(_measure(spark, folder))
        finally:
            spark.stop()
    rows = "\n".join(_row(name, measured) for name, measured in costs.items())
    head = "| small runs | seconds | CPU | Spark jobs | commits |\n| --- | --- | --- | --- | --- |"
    return f"{head}\n{rows}\n\nAfter {events_in(history):,} events; one warm session, median of {rounds}."


Lines = Sequence[tuple[str, str]]


def _slices(later: Sequence[Path]) -> Iterator[Callable[[int], Lines]]:
    """Yield functions that take the next events, of all kinds in turns; each with the folder of its kind."""
    files = [(file.parent.name, iter(file.read_text().splitlines())) for file in later]

    def take(count: int) -> Lines:
        taken: list[tuple[str, str]] = []
        while len(taken) < count:
            found = [(kind, line) for kind, lines in files if (line := next(lines, None)) is not None]
            if not found:
                raise ValueError("there are no more events; measure fewer rounds")
            taken += found[: count - len(taken)]
        return taken

    while True:
        yield take


def _arrive(folder: Path, name: str, lines: Lines) -> None:
    by_kind: dict[str, list[str]] = {}
    for kind, line in lines:
        by_kind.setdefault(kind, []).append(line)
    for kind, own in by_kind.items():
        (landing(folder) / kind / f"slice-{name}.jsonl").write_text("\n".join(own) + "\n")


def _measure(spark: SparkSession, folder: Path) -> Cost:
    jobs, commits = _jobs(spark), _commits(folder)
    cpu, started = cpu_seconds(os.getpid()), time.perf_counter()
    treaty_run.run(spark, folder)
    seconds, cpu = time.perf_counter() - started, cpu_seconds(os.getpid()) - cpu
    return Cost(seconds, cpu, _jobs(spark) - jobs, _commits(folder) - commits)


def _jobs(spark: SparkSession) -> int:
    """Return how many jobs the session has run; the newest ids are kept."""
    return max(spark.sparkContext.statusTracker().getJobIdsForGroup(None), default=-1) + 1


def _commits(folder: Path) -> int:
    """Return the number of commits to all tables; the name of a metadata file begins with its number."""
    with closing(sqlite3.connect(folder / "lake" / "catalog.db")) as catalog:
        places = [row[0] for row in catalog.execute("SELECT metadata_location FROM iceberg_tables")]
    return sum(int(match[1]) + 1 for place in places if (match := _VERSION.search(place)))


def _row(name: str, measured: Sequence[Cost]) -> str:
    seconds, cpu, jobs, commits = (
        median(getattr(cost, part) for cost in measured) for part in ("seconds", "cpu", "jobs", "commits")
    )
    return f"| {name} | {seconds:.1f} s | {cpu:.1f} s | {jobs:.0f} | {commits:.0f} |"
