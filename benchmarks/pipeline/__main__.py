"""Measure the pipeline at another size: `python -m benchmarks.pipeline --events 200000 --case 'full run'`."""

from __future__ import annotations

import argparse

from benchmarks.pipeline import CASES, EVENTS, ROUNDS, run
from benchmarks.pipeline.session import Given


def main() -> None:
    """Read the options and print the tables."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.pipeline")
    options.add_argument("--events", type=int, default=EVENTS["full run"], help="for the whole path (%(default)s)")
    options.add_argument("--history", type=int, default=EVENTS["incremental"], help="the shorter history (%(default)s)")
    options.add_argument(
        "--rounds", type=int, help=f"of each case ({', '.join(f'{n}: {r}' for n, r in ROUNDS.items())})"
    )
    options.add_argument(
        "--case", action="append", choices=list(CASES), default=[], dest="cases", help="only this case"
    )
    options.add_argument("--memory", default=Given.memory, help="of Spark (%(default)s)")
    options.add_argument("--partitions", type=int, default=Given.partitions, help="of a shuffle (%(default)s)")
    asked = options.parse_args()
    given = Given(asked.memory, asked.partitions)
    print(run(asked.events, asked.history, asked.rounds, asked.cases or tuple(CASES), given))


if __name__ == "__main__":
    main()
