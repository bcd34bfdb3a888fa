"""Writes the orders once, in a separate process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.enforce.orders_data import answer_of, orders
from benchmarks.enforce.session import session
from benchmarks.peers import HOME, WORK

FOLDER = WORK / "orders"


def ensure_written(rows: int) -> Path:
    """Return the folder of the orders; they are made the first time."""
    data = FOLDER / f"orders-{rows}"
    if not answer_of(data).exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "benchmarks.enforce.orders_files", str(rows)], cwd=HOME, check=True)
    return data


if __name__ == "__main__":
    spark = session(str(FOLDER / "local"), {})
    orders(spark, int(sys.argv[1]), FOLDER)
    spark.stop()
