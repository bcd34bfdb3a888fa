"""One run in a process of its own, with a Spark of its own; what it took as JSON on the last line."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.enforce.usage import cpu_seconds, peak_bytes
from benchmarks.pipeline import by_hand, with_treaty
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
    by_hand.run(spark, landing(folder), folder / "feed", with_treaty.salt_of(folder, by_hand.FEED))


CONTENDERS: Mapping[str, Contender] = {
    "treaty": Contender(with_treaty.CATALOG, with_treaty.run),
    "by hand": Contender(by_hand.CATALOG, _by_hand),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
