"""Enforcement on Spark: Treaty, hand-written code and the peers on the same orders."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.enforce.contender_table import ENTRIES
from benchmarks.enforce.orders_data import expected
from benchmarks.enforce.orders_files import ensure_written
from benchmarks.enforce.report import cost_table, differences
from benchmarks.enforce.runner import run_in_turns

CASES = ("check", "failing rows", "copy", "split")


def run(rows: int = 5_000_000, rounds: int = 1, names: Sequence[str] = (), cases: Sequence[str] = CASES) -> str:
    """Measure the contenders and return their table."""
    data = ensure_written(rows)
    entries = [entry for entry in ENTRIES if not names or entry.name in names]
    outcomes = run_in_turns(entries, cases, data, rounds)
    seeded = expected(data)
    return f"{cost_table(outcomes, seeded)}\n\n{differences(outcomes, seeded)}"
