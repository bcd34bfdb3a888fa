"""Runs that die: whatever boundary it is at, the next run neither loses nor doubles a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import NOW, Killed, Kiosk, open_kiosk, ordered, paid
from treaty.errors import Conflict
from treaty.pipeline.run import Wish
from treaty.pipeline.run.run_lock import here, locked

_STEPS = ("+books",)


def _feed(kiosk: Kiosk, wave: int) -> None:
    orders = [ordered(10 * wave + n, f"{'ABCDEF'[n]}", wave, 10 * wave + n) for n in range(4)]
    kiosk.deliver("ordered", [*orders, orders[0], "{torn"])
    kiosk.deliver("paid", [paid(10 * wave + n, f"{'ABCDEF'[n]}", 10) for n in range(1, 4)])


def test_a_run_that_dies_at_any_boundary_is_made_up_for_by_the_next(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path / "dying", "dying")
    wave, boundary = 0, 1
    while True:
        wave += 1
        _feed(kiosk, wave)
        try:
            kiosk.run(Wish(_STEPS, at_once=1), stop_at=boundary)
            break
        except Killed:
            boundary += 19  # every wave dies at another boundary, and the next one finds the ruins of the last
    survived = kiosk.everything()
    assert boundary > 20, "no run died after its first steps"

    kiosk.run(Wish(anew=True, from_raw=True, at_once=1))

    assert kiosk.everything() == survived
    lines = sum(len(path.read_text().splitlines()) for path in (tmp_path / "dying" / "landing").rglob("*.jsonl"))
    assert len(kiosk.rows("raw.ordered")) + len(kiosk.rows("raw.paid")) == lines
    assert len(kiosk.rows("events.ordered")) == len(kiosk.rows("raw.ordered"))


def test_two_runs_at_once_do_not_meet(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path, "alone")
    with locked(tmp_path, here(1, NOW)), pytest.raises(Conflict, match="this project is being run already: run 1"):
        kiosk.run()
