"""kill -9 of a run with its JVM at any time: the next run completes without losing or duplicating rows."""

from __future__ import annotations

import random
import signal
from pathlib import Path

from tests.faults.processes import WAVES, Premises, feed, open_premises

_SEED = 6
_STRETCHES = ((0.05, 0.5), (0.5, 0.9))
"""Ranges of progress, as shares of the files of an uninterrupted run; one run is killed in each."""


def test_killed_runs_are_completed_by_the_next(undisturbed: Premises, tmp_path: Path) -> None:
    kiosk = open_premises(tmp_path / "kiosk")
    chance = random.Random(_SEED)  # noqa: S311
    file_count = undisturbed.files()
    points = [round(file_count * chance.uniform(*stretch)) for stretch in _STRETCHES]

    for wave, files in enumerate(chance.sample(points, len(points)), start=1):
        feed(kiosk.folder, wave)
        assert kiosk.run_until_it_wrote(files) == -signal.SIGKILL

    feed(kiosk.folder, WAVES)
    code, output, errors = kiosk.run()

    assert (code, errors) == (0, ""), output
    assert kiosk.rows() == undisturbed.rows()
    assert kiosk.unpublished() == []
