"""Runs a contender in its own process and returns the time and memory it used."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import HOME
from benchmarks.pipeline.progress import report_progress
from benchmarks.pipeline.session import Given


@dataclass(frozen=True)
class Sample:
    """What one process took: processor seconds of its whole tree, wall seconds, memory."""

    cpu: float
    wall: float
    start_cpu: float
    """Part of the processor seconds: until Spark was there."""
    peak: float

    @property
    def work_cpu(self) -> float:
        """Processor seconds from when Spark was there."""
        return self.cpu - self.start_cpu


def median(samples: Sequence[Sample], name: str) -> float:
    """Return the median of one of the figures."""
    return statistics.median(float(getattr(sample, name)) for sample in samples)


def sample(contender: str, folder: Path, given: Given, what: str) -> Sample:
    """Run a contender in a workspace; it ends by itself, and its Spark with it."""
    settings = (given.memory, str(given.partitions), given.start)
    found = ended("worker", contender, str(folder), *settings, str(time.time()))
    told = Sample(**found)
    report_progress(f"{what}: {told.cpu:.0f} s of CPU, {told.wall:.0f} s, {told.peak / 2**20:,.0f} MB")
    return told


def ended(module: str, *arguments: str) -> dict[str, float]:
    """Run a module of this benchmark and return the last line that it prints; what it says on the way is shown."""
    command = [sys.executable, "-m", f"benchmarks.pipeline.{module}", *arguments]
    process = subprocess.run(
        command,
        cwd=HOME,
        env={**os.environ, "PYTHONPATH": str(HOME)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if process.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments[:2])} ended with {process.returncode}; see above")
    found: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return found
