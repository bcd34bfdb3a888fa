"""The ledger of a wave: one entry per defect, and the counts derived from them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from .arrivals import Arrival
from .clock import moment_text
from .defect_marks import Mark, Outcome
from .events import EVENTS
from .options import Options

_Pair = tuple[str, str]


def entry(wave: int, arrival: Arrival, mark: Mark, file: str | None, line: int | None) -> bytes:
    """Return the entry for a defect; file and line are null if nothing arrived."""
    place = {"wave": wave, "at": moment_text(arrival.at), "event": arrival.event, "file": file, "line": line}
    return json.dumps({**place, **asdict(mark)}, ensure_ascii=False).encode() + b"\n"


@dataclass(slots=True)
class Tally:
    """Counts of written lines and defects; the tallies of parts add up to the total."""

    files: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[_Pair] = field(default_factory=Counter)
    """By event and outcome, of lines that arrived."""
    defects: Counter[_Pair] = field(default_factory=Counter)
    """By defect and detail."""
    expected: Counter[str] = field(default_factory=Counter)
    """By outcome, with and without a line."""
    opened: Counter[str] = field(default_factory=Counter)
    resolved: Counter[str] = field(default_factory=Counter)
    """Exceptions by class that this wave opens, and that it resolves."""
    first: int | None = None
    last: int | None = None

    def note_line(self, arrival: Arrival) -> None:
        """Count a line."""
        self.lines[arrival.event] += 1
        self.last = arrival.at
        if self.first is None:
            self.first = arrival.at

    def note_defect(self, arrival: Arrival, mark: Mark) -> None:
        """Count a defect, with or without a line."""
        if arrival.line is not None:
            self.outcomes[arrival.event, mark.outcome.value] += 1
        self.defects[mark.defect, mark.detail] += 1
        self.expected[mark.outcome.value] += 1
        if mark.exception is not None:
            side = self.resolved if mark.outcome is Outcome.RESOLVED else self.opened
            side[mark.exception.value] += 1

    def add(self, later: Tally) -> None:
        """Add the tally of a later part."""
        for name in ("files", "lines", "outcomes", "defects", "expected", "opened", "resolved"):
            getattr(self, name).update(getattr(later, name))
        self.first = later.first if self.first is None else self.first
        self.last = later.last or self.last


def summary(options: Options, tally: Tally) -> dict[str, Any]:
    """Return the counts of a wave as a JSON object."""
    return {
        "history": options.described(),
        "arrivals": {
            "first": None if tally.first is None else moment_text(tally.first),
            "last": None if tally.last is None else moment_text(tally.last),
            "lines": tally.lines.total(),
        },
        "events": {event.name: _counted(event.name, tally) for event in EVENTS if event.name in options.events},
        "defects": _nested(tally.defects),
        "expected": dict(sorted(tally.expected.items())),
        "exceptions": {"opened": dict(sorted(tally.opened.items())), "resolved": dict(sorted(tally.resolved.items()))},
    }


def _counted(name: str, tally: Tally) -> dict[str, int]:
    quarantined, deduplicated = (
        tally.outcomes[name, outcome.value] for outcome in (Outcome.QUARANTINED, Outcome.DEDUPLICATED)
    )
    return {
        "files": tally.files[name],
        "lines": tally.lines[name],
        "quarantined": quarantined,
        "deduplicated": deduplicated,
        "distinct": tally.lines[name] - quarantined - deduplicated,
        "late_not_overwriting": tally.outcomes[name, Outcome.LATE_NOT_OVERWRITING.value],
    }


def _nested(pairs: Counter[_Pair]) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (outer, inner), count in sorted(pairs.items()):
        nested.setdefault(outer, {})[inner] = count
    return nested
