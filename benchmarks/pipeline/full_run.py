"""A full run against a hand-written job: the same files, the same final tables, each in a fresh process."""

from __future__ import annotations

from benchmarks.pipeline.event_files import ensure_written, events_in, options_for
from benchmarks.pipeline.progress import report_progress
from benchmarks.pipeline.runner import Sample, ended, median, sample
from benchmarks.pipeline.session import Given
from benchmarks.pipeline.workspaces import deliver, empty, size_of, workspace
from benchmarks.timing import table

DAYS = 30
LIMIT = 3.0
DID = {
    "by hand": "parses, deduplicates, queries, writes 5 tables and a feed",
    "treaty": "the same, with raw bytes, judged events, products, exceptions and audits, in tables of their own",
}
_HEADER = (
    "the whole path",
    "what it does",
    "CPU",
    "ratio",
    "wall",
    "ratio",
    "of CPU before Spark is there",
    "peak memory",
)


def run(events: int, rounds: int, given: Given) -> str:
    """Measure both in turns, make sure that they come to the same, and return the table."""
    history = ensure_written(options_for(events, DAYS))
    taken: dict[str, list[Sample]] = {name: [] for name in DID}
    with workspace("treaty") as treaty, workspace("by-hand") as by_hand:
        folders = {"by hand": by_hand, "treaty": treaty}
        for folder in folders.values():
            deliver(history, folder)
        for number in range(rounds):
            for name, folder in folders.items():
                empty(folder)
                taken[name].append(sample(name, folder, given, f"round {number + 1} of {rounds}, {name}"))
            if number == 0:
                report_progress("comparing what both came to")
                rows = ended("checking", str(treaty), str(by_hand))
        sizes = {name: size_of(folder) for name, folder in folders.items()}
    same = ", ".join(f"{name} {count:,.0f}" for name, count in rows.items())
    drawn = table(_HEADER, [_row(name, taken) for name in DID])
    return (
        f"{drawn}\n\n{events_in(history):,} events, {rounds} round{'s' * (rounds > 1)}. Both came to the same rows, by "
        f"count and digest: {same}. Tables take {sizes['by hand'] / 1e6:,.0f} MB by hand and "
        f"{sizes['treaty'] / 1e6:,.0f} MB with Treaty. Asked: at most {LIMIT:g} times the CPU."
    )


def _row(name: str, taken: dict[str, list[Sample]]) -> tuple[str, ...]:
    mine, floor = taken[name], taken["by hand"]
    return (
        name,
        DID[name],
        f"{median(mine, 'cpu'):.0f} s",
        f"{median(mine, 'cpu') / median(floor, 'cpu'):.2f}",
        f"{median(mine, 'wall'):.0f} s",
        f"{median(mine, 'wall') / median(floor, 'wall'):.2f}",
        f"{median(mine, 'start_cpu'):.0f} s",
        f"{median(mine, 'peak') / 2**20:,.0f} MB",
    )
