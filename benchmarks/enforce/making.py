"""Making the orders once, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.enforce.data import answer_of, orders
from benchmarks.enforce.session import session
from benchmarks.peers import HOME, WORK

FOLDER = WORK / "orders"


def made(rows: int) -> Path:
    """Return the folder of the orders; they are made the first time."""
    data = FOLDER / f"orders-{rows}"
    if not answer_of(data).exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "benchmarks.enforce.making", str(rows)], cwd=HOME, check=True)
    return data


if __name__ == "__main__":
    spark = session(str(FOLDER / "local"), {})
    orders(spark, int(sys.argv[1]), FOLDER)
    spark.stop()
