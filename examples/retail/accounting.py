"""What a run over a history must find, worked out from its ledgers, to be compared with what the run reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .history.defect_marks import Outcome

Pair = tuple[str, str]
"""Two words that belong together, such as an order and the class of its exception."""


@dataclass(frozen=True)
class Entry:
    """One defect of a history, as its ledger tells it."""

    wave: int
    source: str
    """The event without the name of its domain, as the project calls its source."""
    file: str | None
    line: int | None
    defect: str
    detail: str
    outcome: Outcome
    event_id: str
    order_id: str
    key: str
    rule: str | None
    exception: str | None
    assertion: str | None

    @property
    def came(self) -> bool:
        """Whether there is a line for it."""
        return self.line is not None

    @property
    def shows_in_one_run_a_wave(self) -> bool:
        """Whether it can be told that the event came after a newer one, if each wave is read by one run.

        Files of different sources do not say which of their lines came first; those of one source do, and so do runs.
        """
        return self.detail == f"after {self.source}" or self.detail.endswith("of the wave before")


@dataclass(frozen=True)
class Account:
    """Everything that must be found, or was found, once some waves have been read."""

    lines: Mapping[str, int]
    """By source: lines that came, whatever became of them."""
    accepted: Mapping[str, int]
    """By source: lines that are an event, told for the first time."""
    duplicates: Mapping[str, int]
    """By source: lines that tell an event again."""
    quarantined: Mapping[Pair, int]
    """By source and rule: lines that break it."""
    out_of_order: Mapping[str, int]
    """By source: events that came after a newer one of their key, as far as one run for each wave can tell."""
    gaps: frozenset[Pair]
    """Source and key: an event is missing in the sequence of that key."""
    called_back: frozenset[str]
    """Payments whose money was taken back."""
    exceptions: frozenset[Pair]
    """Order and class: what no run can settle yet."""
    doubted: frozenset[tuple[str, str, str]] = field(compare=False)
    """The same with whose word is missing or doubted: order, payment, shipment or return."""


def expected(folder: Path, waves: int = 1) -> Account:
    """Return what must be found in a history once its first waves have been read, one run for each."""
    entries = tuple(ledger(folder, waves))
    lines, accepted = _counted(folder, waves)
    out_of_order = (one for one in _ended(entries, Outcome.LATE_NOT_OVERWRITING) if one.shows_in_one_run_a_wave)
    doubted = frozenset(_open(entries))
    return Account(
        lines=lines,
        accepted=accepted,
        duplicates=_by_source(_ended(entries, Outcome.DEDUPLICATED)),
        quarantined=Counter((one.source, one.rule or "") for one in _ended(entries, Outcome.QUARANTINED)),
        out_of_order=_by_source(out_of_order),
        gaps=frozenset(_gaps(entries)),
        called_back=frozenset(one.key for one in _ended(entries, Outcome.UPDATED)),
        exceptions=frozenset((order, reason) for order, reason, _ in doubted),
        doubted=doubted,
    )


def quarantined_lines(folder: Path, waves: int = 1) -> dict[tuple[str, int], str]:
    """Return the rule that each bad line breaks, by its file and number."""
    bad = _ended(ledger(folder, waves), Outcome.QUARANTINED)
    return {(one.file, one.line): one.rule or "" for one in bad if one.file is not None and one.line is not None}


def ledger(folder: Path, waves: int = 1) -> Iterator[Entry]:
    """Yield the defects of the first waves of a history."""
    for wave in range(1, waves + 1):
        for text in (folder / _named("ledger", wave, "jsonl")).read_text(encoding="utf-8").splitlines():
            yield _entry(json.loads(text))


def differences(must: Account, found: Account) -> list[str]:
    """Return what was found too much or too little, one sentence for each; nothing where all is accounted for."""
    told: list[str] = []
    for part in (item.name for item in fields(Account) if item.compare):
        wanted, got = getattr(must, part), getattr(found, part)
        told += _of_sets(part, wanted, got) if isinstance(wanted, frozenset) else _of_counts(part, wanted, got)
    return told


def _of_sets(part: str, wanted: frozenset[Any], got: frozenset[Any]) -> list[str]:
    missed = [f"{part}: {_shown(one)} was not found" for one in sorted(wanted - got)]
    return missed + [f"{part}: {_shown(one)} was found and should not be" for one in sorted(got - wanted)]


def _of_counts(part: str, wanted: Mapping[Any, int], got: Mapping[Any, int]) -> list[str]:
    return [
        f"{part}: {_shown(name)} is {got.get(name, 0)} and should be {wanted.get(name, 0)}"
        for name in sorted({*wanted, *got})
        if got.get(name, 0) != wanted.get(name, 0)
    ]


def _shown(name: str | tuple[str, ...]) -> str:
    return name if isinstance(name, str) else " ".join(name)


def _counted(folder: Path, waves: int) -> tuple[Counter[str], Counter[str]]:
    lines: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for wave in range(1, waves + 1):
        told = json.loads((folder / _named("summary", wave, "json")).read_bytes())
        for event, counts in told["events"].items():
            lines[_source(event)] += counts["lines"]
            accepted[_source(event)] += counts["distinct"]
    return lines, accepted


def _ended(entries: Iterable[Entry], outcome: Outcome) -> Iterator[Entry]:
    return (one for one in entries if one.outcome is outcome)


def _by_source(entries: Iterable[Entry]) -> Counter[str]:
    return Counter(one.source for one in entries)


def _open(entries: Iterable[Entry]) -> set[tuple[str, str, str]]:
    """Return the exceptions that were opened and not ended since."""
    found: set[tuple[str, str, str]] = set()
    for one in entries:
        if one.exception is not None and one.assertion is not None:
            doubt = (one.order_id, one.exception, one.assertion)
            if one.outcome is Outcome.RESOLVED:
                found.discard(doubt)
            else:
                found.add(doubt)
    return found


def _gaps(entries: Iterable[Entry]) -> set[Pair]:
    """Return the sequences that lack an event which has not come since."""
    absent: dict[str, Pair] = {}
    for one in entries:
        if one.outcome is Outcome.DROPPED:
            absent[one.event_id] = (one.source, one.key)
        elif one.came:
            absent.pop(one.event_id, None)
    return set(absent.values())


def _entry(said: dict[str, Any]) -> Entry:
    known = {item.name for item in fields(Entry)} - {"source", "outcome"}
    return Entry(
        source=_source(said["event"]),
        outcome=Outcome(said["outcome"]),
        **{name: value for name, value in said.items() if name in known},
    )


def _source(event: str) -> str:
    return event.rpartition(".")[2]


def _named(stem: str, wave: int, ending: str) -> str:
    return f"{stem}.{ending}" if wave == 1 else f"{stem}.wave-{wave}.{ending}"
