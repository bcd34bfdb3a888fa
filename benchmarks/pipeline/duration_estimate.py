"""Estimates how long the cases take: a constant per process plus a share per event."""

from __future__ import annotations

from collections.abc import Mapping

_BY_HAND = (70.0, 60.0)
_TREATY = (130.0, 150.0)
_CHECKED = (20.0, 10.0)
_WRITTEN = (2.0, 40.0)
"""Seconds for a process, and for a million events: the job by hand, a run, the comparison, and writing the events."""
_LATER_RUN = 100.0
_HISTORIES = 11
"""A history and one that is ten times as long."""


def estimate(sizes: Mapping[str, tuple[int, int]]) -> str:
    """Say how many minutes the cases will take, by their events and rounds."""
    seconds = sum(_SECONDS[case](events / 1e6, rounds) for case, (events, rounds) in sizes.items())
    return f"very roughly {seconds / 60:.0f} minutes on two cores, with events that have to be written first"


def _full_run(millions: float, rounds: int) -> float:
    return (
        rounds * (_of(_BY_HAND, millions) + _of(_TREATY, millions)) + _of(_CHECKED, millions) + _of(_WRITTEN, millions)
    )


def _growing(millions: float, rounds: int) -> float:
    histories = 2 * _TREATY[0] + _HISTORIES * millions * (_TREATY[1] + _WRITTEN[1])
    return histories + 2 * rounds * _LATER_RUN


def _of(cost: tuple[float, float], millions: float) -> float:
    return cost[0] + cost[1] * millions


def _small_runs(millions: float, rounds: int) -> float:
    return _of(_WRITTEN, millions) + _of(_TREATY, millions) + rounds * _LATER_RUN / 2


_SECONDS = {"full run": _full_run, "incremental": _growing, "small runs": _small_runs}
