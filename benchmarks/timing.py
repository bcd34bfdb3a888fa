"""Medians of interleaved runs, so that noise affects all candidates alike."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence


def medians(actions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each action, run in turns; the first round only warms up."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(rounds + 1):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            if number:
                taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in taken.items()}


def command(*arguments: str, codes: Sequence[int] = (0,)) -> Callable[[], None]:
    """Return an action that runs a command and checks how it ended."""

    def run() -> None:
        ended = subprocess.run(arguments, capture_output=True, check=False)
        if ended.returncode not in codes:
            raise RuntimeError(f"{' '.join(arguments)} ended with {ended.returncode}: {ended.stderr.decode()}")

    return run


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows))
