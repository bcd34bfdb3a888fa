"""Runs the contenders in turns, each case in its own process, so that noise affects all alike."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.enforce.contender_table import Entry
from benchmarks.peers import HOME


@dataclass(frozen=True)
class Sample:
    """One process: the first run with everything that starts up, then medians of the floor and the case, warm."""

    cold_cpu: float
    cold_wall: float
    floor_cpu: float
    floor_wall: float
    cpu: float
    wall: float
    peak: int
    answer: dict[str, int]

    @property
    def ratio(self) -> float:
        """The processor time of the case to that of the floor beside it."""
        return self.cpu / self.floor_cpu


@dataclass(frozen=True)
class Outcome:
    """All samples of one case of one contender."""

    entry: Entry
    case: str
    samples: tuple[Sample, ...]

    def median(self, name: str) -> float:
        """Return the median of one of the figures."""
        return statistics.median(float(getattr(sample, name)) for sample in self.samples)


def run_in_turns(entries: Sequence[Entry], cases: Sequence[str], data: Path, rounds: int) -> list[Outcome]:
    """Measure every case of every contender, one after the other, as often as asked."""
    turns = [(entry, case) for case in cases for entry in entries if case in entry.cases]
    samples: dict[tuple[Entry, str], list[Sample]] = {turn: [] for turn in turns}
    for number in range(rounds):
        for entry, case in turns:
            sample = _sample(entry, case, data)
            samples[entry, case].append(sample)
            print(
                f"round {number + 1}, {entry.name}, {case}: {sample.cpu:.1f} s, {sample.ratio:.2f} of the floor",
                file=sys.stderr,
                flush=True,
            )
    return [Outcome(entry, case, tuple(found)) for (entry, case), found in samples.items()]


def _sample(entry: Entry, case: str, data: Path) -> Sample:
    scratch = tempfile.mkdtemp(prefix=f"{entry.module}-", dir=data.parent)
    arguments = [entry.python, "-m", "benchmarks.enforce.worker", entry.module, case, str(data), scratch]
    surroundings = {**os.environ, "PYTHONPATH": str(HOME)}
    try:
        ended = subprocess.run(
            [*arguments, str(time.time())], cwd=HOME, env=surroundings, capture_output=True, text=True, check=False
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if ended.returncode:
        raise RuntimeError(f"{entry.name}, {case}, ended with {ended.returncode}: {ended.stderr[-4_000:]}")
    found = json.loads(ended.stdout.splitlines()[-1])
    return Sample(
        found["cold"]["cpu"],
        found["cold"]["wall"],
        found["floor"]["cpu"],
        found["floor"]["wall"],
        found["warm"]["cpu"],
        found["warm"]["wall"],
        found["peak"],
        found["answer"],
    )
