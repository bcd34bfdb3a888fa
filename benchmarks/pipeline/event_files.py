"""Event files of the retail example, written once; free of defects, so that both contenders get the same result."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.peers import WORK
from benchmarks.pipeline.progress import report_progress
from examples.retail.history import Options, clean, write

FOLDER = WORK / "pipeline"
EVENTS_PER_ORDER = 3.57


def options_for(events: int, days: int) -> Options:
    """Return a history of about so many events, a file for each week and kind."""
    return replace(clean(orders=max(days, round(events / EVENTS_PER_ORDER)), days=days), batch="week")


def ensure_written(options: Options) -> Path:
    """Return the folder of a wave; it is written the first time, whole or not at all."""
    name = f"events-{options.orders}-{options.days}-{options.wave}"
    folder, beside = FOLDER / name, FOLDER / f".{name}"
    if not folder.exists():
        report_progress(f"writing the events of {options.orders:,} orders, wave {options.wave}, once")
        shutil.rmtree(beside, ignore_errors=True)
        write(options, beside, os.cpu_count() or 1)
        beside.rename(folder)
    return folder


def events_in(history: Path) -> int:
    """Return how many lines a wave has."""
    (summary,) = history.glob("summary*.json")
    lines: int = json.loads(summary.read_bytes())["arrivals"]["lines"]
    return lines


def files_in(history: Path) -> Iterator[Path]:
    """Yield the files of a wave."""
    return history.glob("retail.*/*.jsonl")
