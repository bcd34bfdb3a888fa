"""CPU seconds and peak memory of a process tree, from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int) -> float:
    """Return the processor time of a process tree, those that ended and were waited for included."""
    return sum(sum(map(int, _stat(each)[11:15])) for each in _tree(process)) / _TICKS


def peak_bytes(process: int) -> int:
    """Return the peak resident memory of each process of the tree, added up."""
    return sum(_peak(each) for each in _tree(process))


def _tree(process: int) -> Iterator[int]:
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _tree(int(child))


def _stat(process: int) -> list[str]:
    """Return the fields behind the name, which may itself hold spaces and brackets."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _peak(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
