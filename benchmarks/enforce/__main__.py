"""Measure enforcement at another size or with some contenders only: `python -m benchmarks.enforce --rows 20000000`."""

from __future__ import annotations

import argparse

from benchmarks.enforce import CASES, run
from benchmarks.enforce.contender_table import ENTRIES


def main() -> None:
    """Read the options and print the table."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.enforce")
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--contender", action="append", choices=[entry.name for entry in ENTRIES], default=[])
    options.add_argument("--case", action="append", choices=CASES, default=[])
    asked = options.parse_args()
    print(run(asked.rows, asked.rounds, asked.contender, asked.case or CASES))


if __name__ == "__main__":
    main()
