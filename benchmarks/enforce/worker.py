"""Runs one contender: a cold run, then the floor and the case in turns, warm; prints the result as JSON."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.enforce.process_usage import cpu_seconds, peak_bytes
from benchmarks.enforce.session import session
from benchmarks.enforce.task import Answer, Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_TURNS = 3


@dataclass(frozen=True)
class Cost:
    """What an action took."""

    cpu: float
    wall: float


def main(module: str, case: str, data: str, scratch: str, started: str) -> None:
    """Run one case of one contender and print what it took and found."""
    contender = importlib.import_module(f"benchmarks.enforce.contenders.{module}")
    folder = Path(scratch)
    spark = session(str(folder / "local"), getattr(contender, "SETTINGS", {}))
    work = Work(spark, spark.read.parquet(data), folder / "written")
    answers: list[Answer] = []

    def act() -> None:
        shutil.rmtree(work.folder, ignore_errors=True)
        answers.append(contender.CASES[case](work))

    act()
    cold = Cost(cpu_seconds(os.getpid()), time.time() - float(started))
    scan(work.orders)
    act()
    turns = [(cost(lambda: scan(work.orders)), cost(act)) for _ in range(_TURNS)]
    floor, warm = middle([of_floor for of_floor, _ in turns]), middle([of_case for _, of_case in turns])
    result = {
        "cold": asdict(cold),
        "floor": asdict(floor),
        "warm": asdict(warm),
        "peak": peak_bytes(os.getpid()),
        "answer": answers[-1],
    }
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(result))


def scan(orders: DataFrame) -> None:
    """Read every column of every row and do nothing with it."""
    orders.write.format("noop").mode("overwrite").save()


def middle(costs: Sequence[Cost]) -> Cost:
    """Return the median of each figure."""
    return Cost(median(one.cpu for one in costs), median(one.wall for one in costs))


def cost(action: Callable[[], None]) -> Cost:
    """Measure an action: the processor time of this process tree, the virtual machine's included."""
    cpu, wall = cpu_seconds(os.getpid()), time.time()
    action()
    return Cost(cpu_seconds(os.getpid()) - cpu, time.time() - wall)


if __name__ == "__main__":
    main(*sys.argv[1:])
