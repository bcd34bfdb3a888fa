"""Measures whether cost follows the change: the same day of events on a history and on one ten times as long."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.pipeline.event_files import ensure_written, events_in, options_for
from benchmarks.pipeline.runner import Sample, median, sample
from benchmarks.pipeline.session import SHORT_COMMAND, Given
from benchmarks.pipeline.workspaces import deliver, workspace
from benchmarks.timing import table
from examples.retail.history import Options

DAYS = 30
TIMES = 10
LIMIT = 1.5
_OLD_WAVES = 2
"""A wave goes on with orders of the one before: from the third on, all are alike, however long the first was."""
_HEADER = ("history", "new events", "CPU", "ratio", "CPU after Spark is there", "ratio", "wall", "ratio", "peak memory")


@dataclass
class Warehouse:
    """A history that was run, and what later days took."""

    options: Options
    folder: Path
    events: int = 0
    new: list[int] = field(default_factory=list)
    taken: list[Sample] = field(default_factory=list)

    def add(self, wave: int) -> int:
        """Let a wave arrive, and return its events."""
        history = ensure_written(replace(self.options, wave=wave))
        deliver(history, self.folder)
        return events_in(history)


def run(events: int, rounds: int, given: Given) -> str:
    """Run both histories, then the days that follow in turns, and return the table."""
    with ExitStack() as stack:
        # ten times the days with the same trade a day, so that a day brings as much to one as to the other
        both = [
            Warehouse(options_for(events * times, DAYS * times), stack.enter_context(workspace(f"times-{times}")))
            for times in (1, TIMES)
        ]
        for one in both:
            one.events = sum(one.add(wave + 1) for wave in range(_OLD_WAVES))
            sample("treaty", one.folder, given, f"a history of {one.events:,} events, not counted")
        for number in range(rounds):
            for one in both:
                one.new.append(one.add(_OLD_WAVES + 1 + number))
                what = f"round {number + 1} of {rounds}, {one.new[-1]:,} new events on {one.events:,}"
                one.taken.append(sample("treaty", one.folder, replace(given, start=SHORT_COMMAND), what))
    drawn = table(_HEADER, [_row(one, both[0]) for one in both])
    return (
        f"{drawn}\n\nEach round is another day of trade with what it brings about older orders, in a fresh process "
        "whose Java is started as `treaty run` does it; "
        f"{rounds} round{'s' * (rounds > 1)}. Asked: less than {LIMIT:g} times."
    )


def _row(one: Warehouse, floor: Warehouse) -> tuple[str, ...]:
    new = sum(one.new) / len(one.new)
    figures = []
    for name in ("cpu", "work_cpu", "wall"):
        mine = median(one.taken, name)
        figures += [f"{mine:.1f} s", f"{mine / median(floor.taken, name):.2f}"]
    return (f"{one.events:,} events", f"{new:,.0f} a day", *figures, f"{median(one.taken, 'peak') / 2**20:,.0f} MB")
