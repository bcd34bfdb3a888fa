"""Runs one contender with its own Spark session and prints its time and memory as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.enforce.process_usage import cpu_seconds, peak_bytes
from benchmarks.pipeline import hand_written_job, treaty_run
from benchmarks.pipeline.session import Given, session
from benchmarks.pipeline.workspaces import landing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Contender:
    """What is run in a workspace, and the catalog that it writes to."""

    catalog: str
    run: Callable[[SparkSession, Path], None]


def main(name: str, folder: str, memory: str, partitions: str, start: str, began: str) -> None:
    """Run a contender in a workspace, and print what starting Spark took and what everything took."""
    contender, place, me = CONTENDERS[name], Path(folder), os.getpid()
    spark = session(place, contender.catalog, Given(memory, int(partitions), start))
    start_cpu = cpu_seconds(me)
    contender.run(spark, place)
    cpu, wall = cpu_seconds(me), time.time() - float(began)
    result = {"cpu": cpu, "wall": wall, "start_cpu": start_cpu, "peak": peak_bytes(me)}
    spark.stop()
    print(json.dumps(result))


def _by_hand(spark: SparkSession, folder: Path) -> None:
    hand_written_job.run(spark, landing(folder), folder / "feed", treaty_run.hash_key_of(folder, hand_written_job.FEED))


CONTENDERS: Mapping[str, Contender] = {
    "treaty": Contender(treaty_run.CATALOG, treaty_run.run),
    "by hand": Contender(hand_written_job.CATALOG, _by_hand),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
