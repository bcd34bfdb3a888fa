"""Reads a generated history back from its files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tests.examples.line_validation import LineValidator

Entry = dict[str, Any]


class Line(NamedTuple):
    """One line of a file."""

    event: str
    file: str
    number: int
    content: bytes

    @property
    def place(self) -> tuple[str, int]:
        """The file and line number."""
        return self.file, self.number

    @property
    def payload(self) -> dict[str, Any]:
        """The line as an event, with decimals for its amounts."""
        read: dict[str, Any] = json.loads(self.content, parse_float=Decimal)
        return read


@dataclass(frozen=True)
class Wave:
    """One wave of a history on disk, with its ledger and summary."""

    wave: int
    lines: tuple[Line, ...]
    ledger: tuple[Entry, ...]
    summary: dict[str, Any]

    def entries(self, outcome: str) -> dict[tuple[str, int], Entry]:
        """Return the ledger entries of an outcome by line."""
        found = [entry for entry in self.ledger if entry["outcome"] == outcome]
        return {(entry["file"], entry["line"]): entry for entry in found}

    def opened(self) -> dict[str, tuple[str, str]]:
        """Return the exceptions that the wave opens according to the ledger, by order."""
        return {
            entry["order_id"]: (entry["exception"], entry["assertion"])
            for entry in self.ledger
            if entry["exception"] and entry["outcome"] != "resolved"
        }

    def ended(self) -> set[str]:
        """Return the orders whose exceptions the wave resolves according to the ledger."""
        return {entry["order_id"] for entry in self.ledger if entry["outcome"] == "resolved"}

    @cached_property
    def violations(self) -> dict[tuple[str, int], set[str]]:
        """The rules that lines violate according to an independent validator, by line."""
        validators = {name: LineValidator(name) for name in self.summary["events"]}
        found = {line.place: validators[line.event].violations(line.content) for line in self.lines}
        return {place: rules for place, rules in found.items() if rules}

    @cached_property
    def valid(self) -> tuple[Line, ...]:
        """The lines that violate no rule."""
        return tuple(line for line in self.lines if line.place not in self.violations)


def read_wave(folder: Path, wave: int) -> Wave:
    """Read a wave; the numbers of files tell which wave they belong to."""
    suffix = "" if wave == 1 else f".wave-{wave}"
    summary = json.loads((folder / f"summary{suffix}.json").read_bytes())
    with (folder / f"ledger{suffix}.jsonl").open("rb") as ledger:
        entries = tuple(json.loads(line) for line in ledger)
    days = summary["history"]["days"] + 45
    return Wave(
        wave, tuple(line for line in _lines(folder) if (_part(line.file) > days) == (wave > 1)), entries, summary
    )


def distinct(lines: tuple[Line, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each event once, with the last part of its name."""
    seen: Counter[str] = Counter()
    for line in lines:
        payload = line.payload
        seen[payload["event_id"]] += 1
        if seen[payload["event_id"]] == 1:
            yield line.event.rpartition(".")[2], payload


def _lines(folder: Path) -> Iterator[Line]:
    for file in sorted(folder.glob("*/part-*.jsonl")):
        content = file.read_bytes()
        assert content.endswith(b"\n")
        for number, line in enumerate(content[:-1].split(b"\n"), 1):
            yield Line(file.parent.name, f"{file.parent.name}/{file.name}", number, line)


def _part(file: str) -> int:
    return int(file.rpartition("-")[2].removesuffix(".jsonl"))
