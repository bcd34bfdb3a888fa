"""The outcomes that a run over a generated history must have, computed from the ledgers, and their comparison."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .history.defect_marks import Outcome

Pair = tuple[str, str]
"""Two names that belong together, such as an order and the class of its exception."""


@dataclass(frozen=True)
class Entry:
    """One defect of a history, as recorded in its ledger."""

    wave: int
    source: str
    """The event without its domain, which is the name of the source in the project."""
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
    def arrived(self) -> bool:
        """Whether the history contains a line for the entry."""
        return self.line is not None

    @property
    def is_detectable(self) -> bool:
        """Whether a run can detect that the event arrived after a newer one, if each wave is processed by one run.

        The order of arrival is known within the files of one source and between runs, not between sources.
        """
        return self.detail == f"after {self.source}" or self.detail.endswith("of the wave before")


@dataclass(frozen=True)
class Account:
    """The expected or observed outcomes after some waves have been processed."""

    lines: Mapping[str, int]
    """All lines, by source."""
    accepted: Mapping[str, int]
    """Lines with a new event, by source."""
    duplicates: Mapping[str, int]
    """Lines that repeat an event, by source."""
    quarantined: Mapping[Pair, int]
    """Quarantined lines, by source and violated rule."""
    out_of_order: Mapping[str, int]
    """Events that arrived after a newer one of their key, by source, as far as one run per wave can detect them."""
    gaps: frozenset[Pair]
    """Source and key of each sequence that lacks an event."""
    charged_back: frozenset[str]
    """Payments that the bank charged back."""
    exceptions: frozenset[Pair]
    """Order and class of each open exception."""
    exception_claims: frozenset[tuple[str, str, str]] = field(compare=False)
    """The same with the claim in question: order, payment, shipment or return."""


def expected(folder: Path, waves: int = 1) -> Account:
    """Return the expected outcomes of a history after its first waves, each processed by one run."""
    entries = tuple(ledger(folder, waves))
    lines, accepted = _line_counts(folder, waves)
    out_of_order = (entry for entry in _with_outcome(entries, Outcome.LATE_NOT_OVERWRITING) if entry.is_detectable)
    exception_claims = frozenset(_open_exceptions(entries))
    quarantined = _with_outcome(entries, Outcome.QUARANTINED)
    return Account(
        lines=lines,
        accepted=accepted,
        duplicates=_by_source(_with_outcome(entries, Outcome.DEDUPLICATED)),
        quarantined=Counter((entry.source, entry.rule or "") for entry in quarantined),
        out_of_order=_by_source(out_of_order),
        gaps=frozenset(_gaps(entries)),
        charged_back=frozenset(entry.key for entry in _with_outcome(entries, Outcome.UPDATED)),
        exceptions=frozenset((order, reason) for order, reason, _ in exception_claims),
        exception_claims=exception_claims,
    )


def quarantined_lines(folder: Path, waves: int = 1) -> dict[tuple[str, int], str]:
    """Return the rule that each invalid line violates, by file and line number."""
    return {
        (entry.file, entry.line): entry.rule or ""
        for entry in _with_outcome(ledger(folder, waves), Outcome.QUARANTINED)
        if entry.file is not None and entry.line is not None
    }


def ledger(folder: Path, waves: int = 1) -> Iterator[Entry]:
    """Yield the ledger entries of the first waves of a history."""
    for wave in range(1, waves + 1):
        for text in (folder / _file_name("ledger", wave, "jsonl")).read_text(encoding="utf-8").splitlines():
            yield _parse_entry(json.loads(text))


def differences(expected: Account, observed: Account) -> list[str]:
    """Return one sentence for each difference; an empty list if the outcomes are equal."""
    sentences: list[str] = []
    for part in (attribute.name for attribute in fields(Account) if attribute.compare):
        wanted, actual = getattr(expected, part), getattr(observed, part)
        compare = _set_differences if isinstance(wanted, frozenset) else _count_differences
        sentences += compare(part, wanted, actual)
    return sentences


def _set_differences(part: str, wanted: frozenset[Any], actual: frozenset[Any]) -> list[str]:
    missing = [f"{part}: {_format_name(name)} was not found" for name in sorted(wanted - actual)]
    return missing + [f"{part}: {_format_name(name)} was found and should not be" for name in sorted(actual - wanted)]


def _count_differences(part: str, wanted: Mapping[Any, int], actual: Mapping[Any, int]) -> list[str]:
    return [
        f"{part}: {_format_name(name)} is {actual.get(name, 0)} and should be {wanted.get(name, 0)}"
        for name in sorted({*wanted, *actual})
        if actual.get(name, 0) != wanted.get(name, 0)
    ]


def _format_name(name: str | tuple[str, ...]) -> str:
    return name if isinstance(name, str) else " ".join(name)


def _line_counts(folder: Path, waves: int) -> tuple[Counter[str], Counter[str]]:
    lines: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for wave in range(1, waves + 1):
        summary = json.loads((folder / _file_name("summary", wave, "json")).read_bytes())
        for event, counts in summary["events"].items():
            lines[_source(event)] += counts["lines"]
            accepted[_source(event)] += counts["distinct"]
    return lines, accepted


def _with_outcome(entries: Iterable[Entry], outcome: Outcome) -> Iterator[Entry]:
    return (entry for entry in entries if entry.outcome is outcome)


def _by_source(entries: Iterable[Entry]) -> Counter[str]:
    return Counter(entry.source for entry in entries)


def _open_exceptions(entries: Iterable[Entry]) -> set[tuple[str, str, str]]:
    """Return the exceptions that were opened and not resolved since."""
    exceptions: set[tuple[str, str, str]] = set()
    for entry in entries:
        if entry.exception is not None and entry.assertion is not None:
            exception = (entry.order_id, entry.exception, entry.assertion)
            if entry.outcome is Outcome.RESOLVED:
                exceptions.discard(exception)
            else:
                exceptions.add(exception)
    return exceptions


def _gaps(entries: Iterable[Entry]) -> set[Pair]:
    """Return the sequences with an event that has not arrived yet."""
    absent: dict[str, Pair] = {}
    for entry in entries:
        if entry.outcome is Outcome.DROPPED:
            absent[entry.event_id] = (entry.source, entry.key)
        elif entry.arrived:
            absent.pop(entry.event_id, None)
    return set(absent.values())


def _parse_entry(data: dict[str, Any]) -> Entry:
    known = {attribute.name for attribute in fields(Entry)} - {"source", "outcome"}
    return Entry(
        source=_source(data["event"]),
        outcome=Outcome(data["outcome"]),
        **{name: value for name, value in data.items() if name in known},
    )


def _source(event: str) -> str:
    return event.rpartition(".")[2]


def _file_name(stem: str, wave: int, ending: str) -> str:
    return f"{stem}.{ending}" if wave == 1 else f"{stem}.wave-{wave}.{ending}"
