"""Interrupted runs: at any phase, the next run completes without losing or duplicating rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import NOW, Killed, Kiosk, open_kiosk, ordered, paid
from treaty.errors import Conflict
from treaty.pipeline.run import RunOptions
from treaty.pipeline.run.run_lock import current_holder, hold_run_lock

_STEPS = ("+books",)


def _feed(kiosk: Kiosk, wave: int) -> None:
    orders = [ordered(10 * wave + n, f"{'ABCDEF'[n]}", wave, 10 * wave + n) for n in range(4)]
    kiosk.deliver("ordered", [*orders, orders[0], "{torn"])
    kiosk.deliver("paid", [paid(10 * wave + n, f"{'ABCDEF'[n]}", 10) for n in range(1, 4)])


def test_run_interrupted_at_any_phase_is_completed_by_the_next(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path / "dying", "dying")
    wave, boundary = 0, 1
    while True:
        wave += 1
        _feed(kiosk, wave)
        try:
            kiosk.run(RunOptions(_STEPS, max_parallel_steps=1), stop_at=boundary)
            break
        except Killed:
            boundary += 31  # each wave is interrupted at another phase, after the leftovers of the wave before
    survived = kiosk.everything()
    assert boundary > 32, "no run died after its first steps"

    kiosk.run(RunOptions(rebuild=True, from_raw=True, max_parallel_steps=1))

    assert kiosk.everything() == survived
    lines = sum(len(path.read_text().splitlines()) for path in (tmp_path / "dying" / "landing").rglob("*.jsonl"))
    assert len(kiosk.rows("raw.ordered")) + len(kiosk.rows("raw.paid")) == lines
    assert len(kiosk.rows("events.ordered")) == len(kiosk.rows("raw.ordered"))


def test_second_run_of_the_project_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path, "alone")
    with (
        hold_run_lock(tmp_path, current_holder(1, NOW)),
        pytest.raises(Conflict, match="this project is already running: run 1"),
    ):
        kiosk.run()
