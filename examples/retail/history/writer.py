"""Writes a history: one folder per event, one file per batch of arrivals, and the ledger."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from .arrival_sort import Slots, slots_in, taken
from .clock import HOUR, SECOND, start_of
from .generator import Source
from .ledger import Tally, entry, summary
from .options import BATCHES, Options
from .processes import shared_by, split


class Occupied(Exception):
    """The folder contains files that a new history would be mixed with."""


@dataclass(frozen=True, slots=True)
class _Fill:
    """Generate some orders into slots of a folder."""

    options: Options
    numbers: range
    folder: Path


@dataclass(frozen=True, slots=True)
class _Batch:
    """Write some slots of several folders as one batch, with its part of the ledger."""

    options: Options
    out: Path
    number: int
    slots: tuple[int, ...]
    folders: tuple[Path, ...]
    ledger: Path


def write(options: Options, out: Path, workers: int = 1) -> dict[str, Any]:
    """Write a wave of a history into a folder and return its summary; the result is the same for any workers."""
    _refuse_mixing(options, out)
    numbers = Source(options).numbers
    out.mkdir(parents=True, exist_ok=True)
    whole = Tally()
    with TemporaryDirectory(prefix=".history-", dir=out) as scratch, shared_by(workers) as do_all:
        parts = enumerate(split(numbers, workers))
        fills = [_Fill(options, part, Path(scratch) / str(place)) for place, part in parts]
        folders = tuple(do_all(_fill, fills))
        by_batch = groupby(sorted(slots_in(folders)), lambda slot: _batch_of(options, slot))
        batches = [
            _Batch(options, out, number, tuple(slots), folders, Path(scratch) / f"ledger-{number}")
            for number, slots in by_batch
        ]
        for tally in do_all(_write_batch, batches):
            whole.add(tally)
        _join([batch.ledger for batch in batches], out / _named(options, "ledger.jsonl"))
    told = summary(options, whole)
    (out / _named(options, "summary.json")).write_bytes(json.dumps(told, indent=2).encode() + b"\n")
    return told


def _fill(job: _Fill) -> Path:
    job.folder.mkdir()
    slots = Slots(job.folder)
    for arrival in Source(job.options).arrivals(job.numbers):
        slots.add(arrival)
    slots.put_away()
    return job.folder


def _write_batch(job: _Batch) -> Tally:
    tally = Tally()
    part = f"part-{job.number + 1:04}.jsonl"
    files: dict[str, BinaryIO] = {}
    with ExitStack() as stack:
        ledger = stack.enter_context(job.ledger.open("wb"))
        for arrival in (arrival for slot in job.slots for arrival in sorted(taken(job.folders, slot))):
            name, line, mark = arrival.event, arrival.line, arrival.mark
            if line is not None:
                if name not in files:
                    (job.out / name).mkdir(exist_ok=True)
                    files[name] = stack.enter_context((job.out / name / part).open("wb"))
                    tally.files[name] += 1
                files[name].write(line + b"\n")
                tally.note_line(arrival)
            if mark is not None:
                tally.note_defect(arrival, mark)
                where = (None, None) if line is None else (f"{name}/{part}", tally.lines[name])
                ledger.write(entry(job.options.wave, arrival, mark, *where))
    ended = (job.slots[-1] + 1) * HOUR / SECOND
    for name in files:  # files arrive in the order of their modification times
        os.utime(job.out / name / part, (ended, ended))
    return tally


def _join(pieces: list[Path], whole: Path) -> None:
    with whole.open("wb") as file:
        for piece in pieces:
            with piece.open("rb") as part:
                copyfileobj(part, file)


def _batch_of(options: Options, slot: int) -> int:
    return (slot * HOUR - start_of(options.start)) // BATCHES[options.batch]


def _named(options: Options, name: str) -> str:
    stem, _, ending = name.rpartition(".")
    return name if options.wave == 1 else f"{stem}.wave-{options.wave}.{ending}"


def _refuse_mixing(options: Options, out: Path) -> None:
    """Refuse a folder with files that readers could not distinguish from this history."""
    if not out.exists():
        return
    if options.wave == 1 and any(out.iterdir()):
        raise Occupied(f"{out} is not empty; name a new folder, or remove what is in it")
    if (out / _named(options, "summary.json")).exists():
        raise Occupied(f"{out} holds wave {options.wave} already; name a new folder")
    first = out / "summary.json"
    if first.exists():
        told, asked = json.loads(first.read_bytes())["history"], options.described()
        other = [f"{name} {told[name]}" for name in told if name != "wave" and told[name] != asked[name]]
        if other:
            raise Occupied(f"{out} holds a history with {', '.join(other)}; ask for the same, or name a new folder")
