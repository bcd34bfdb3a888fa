"""Sorts arrivals by time in bounded memory: one bucket per hour, spilled to disk."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from struct import Struct

from .arrivals import Arrival
from .clock import HOUR
from .defect_marks import Mark, Outcome, Reason
from .events import EVENTS

BUDGET = 48 * 1024 * 1024
"""Bytes of lines that are buffered in memory before they are written to disk."""
_HEAD = Struct("<qqiBiI")
_NOTHING = -1
_NAMES = tuple(event.name for event in EVENTS)
_PLACES = {name: place for place, name in enumerate(_NAMES)}


class Slots:
    """Arrivals by hour, added in any order and returned sorted."""

    def __init__(self, folder: Path, budget: int = BUDGET) -> None:
        self._folder = folder
        self._budget = budget
        self._held = 0
        self._waiting: dict[int, list[Arrival]] = defaultdict(list)

    def add(self, arrival: Arrival) -> None:
        """Add an arrival to its slot."""
        self._waiting[arrival.at // HOUR].append(arrival)
        self._held += len(arrival.line or b"")
        if self._held > self._budget:
            self.put_away()

    def put_away(self) -> None:
        """Write the buffered lines to disk."""
        for slot, arrivals in self._waiting.items():
            with (self._folder / str(slot)).open("ab") as file:
                file.write(b"".join(map(_packed, arrivals)))
        self._waiting.clear()
        self._held = 0

    def numbers(self) -> list[int]:
        """Return the slots that are not empty, in order."""
        return sorted(self._waiting.keys() | slots_in([self._folder]))

    def take(self, slot: int) -> list[Arrival]:
        """Return the arrivals of a slot, sorted, and remove them."""
        return sorted([*taken([self._folder], slot), *self._waiting.pop(slot, [])])


def slots_in(folders: Sequence[Path]) -> set[int]:
    """Return the slots in some folders."""
    return {int(file.name) for folder in folders for file in folder.iterdir()}


def taken(folders: Sequence[Path], slot: int) -> Iterator[Arrival]:
    """Yield the arrivals of a slot in some folders, unsorted, and remove them."""
    for folder in folders:
        file = folder / str(slot)
        if file.exists():
            yield from _unpacked(file.read_bytes())
            file.unlink()


def _packed(arrival: Arrival) -> bytes:
    mark = b"" if arrival.mark is None else json.dumps(asdict(arrival.mark)).encode()
    length = _NOTHING if arrival.line is None else len(arrival.line)
    head = _HEAD.pack(arrival.at, arrival.order, arrival.place, _PLACES[arrival.event], length, len(mark))
    return head + mark + (arrival.line or b"")


def _unpacked(data: bytes) -> Iterator[Arrival]:
    here = 0
    while here < len(data):
        at, order, place, event, length, marked = _HEAD.unpack_from(data, here)
        here += _HEAD.size
        mark = _mark(data[here : here + marked]) if marked else None
        here += marked
        line = None if length == _NOTHING else data[here : here + length]
        here += max(length, 0)
        yield Arrival(at, order, place, _NAMES[event], line, mark)


def _mark(text: bytes) -> Mark:
    said = json.loads(text)
    said["outcome"] = Outcome(said["outcome"])
    said["exception"] = said["exception"] and Reason(said["exception"])
    return Mark(**said)
