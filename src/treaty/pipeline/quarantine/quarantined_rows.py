"""Quarantined rows and their reasons as plain values."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

_OFFENDING_COLUMN = re.compile(r"[.\[{]")


@dataclass(frozen=True)
class Violation:
    """A rule that a row violates, and the value that violates it."""

    rule: str
    field: str
    value: str | None
    message: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the offending value; a key may have several, and a nested field is in one."""
        return tuple(_OFFENDING_COLUMN.split(name)[0] for name in self.field.split(", ") if name)


@dataclass(frozen=True)
class TopicRecord:
    """Where a row is in Kafka, and the bytes of its value; None for a tombstone."""

    topic: str
    partition: int
    offset: int
    value: bytes | None

    @property
    def place(self) -> str:
        """Where the record is, in words."""
        return f"offset {self.offset:,} of partition {self.partition} of topic {self.topic}"

    def as_data(self) -> dict[str, Any]:
        """Return the record as JSON data, with its bytes as Base64."""
        value = None if self.value is None else b64encode(self.value).decode()
        return {"topic": self.topic, "partition": self.partition, "offset": self.offset, "value_base64": value}


@dataclass(frozen=True)
class QuarantinedRow:
    """A row as it came, why it was set apart, and where it came from."""

    cells: Mapping[str, str | None]
    """The values as texts, by column; empty if the row could not be parsed."""
    violations: tuple[Violation, ...]
    file: str | None = None
    number: int | None = None
    """The line of the file, the row below its header, or the offset; see `unit`."""
    unit: str = "row"
    run: int | None = None
    original: str | None = None
    """The text of the row, if it is known."""
    record: TopicRecord | None = None
    """The record of a topic that it came from; then `file` is TOPIC#PARTITION and `number` the offset."""

    @property
    def place(self) -> str:
        """Where the row came from, such as `line 28 of orders.csv`; empty if that is unknown."""
        if self.record is not None:
            return self.record.place
        number = "" if self.number is None else f"{self.unit} {self.number:,} of "
        return f"{number}{self.file}" if self.file else ""

    @property
    def reasons(self) -> str:
        """The reasons in one line."""
        return "; ".join(describe_violation(violation) for violation in self.violations)

    def problems_of(self, column: str) -> list[Violation]:
        """Return the violations of one column."""
        return [violation for violation in self.violations if column in violation.columns]

    def as_data(self) -> dict[str, Any]:
        """Return the row as JSON data; that of a topic has its record instead of a file."""
        place = {"file": self.file, "unit": self.unit, "number": self.number}
        return {
            **(self.record.as_data() if self.record else place),
            "run": self.run,
            "cells": dict(self.cells) or None,
            "original": self.original,
            "violations": [vars(violation) for violation in self.violations],
        }


def describe_violation(violation: Violation) -> str:
    """Describe a violation in words: the field, its value and the requirement."""
    value = "" if violation.value is None else f" is {violation.value!r}, but"
    return f"{violation.field}{value} {violation.message}".strip()


@dataclass(frozen=True)
class ReasonCount:
    """A rule, how many rows violate it, and the most frequent values."""

    rule: str
    message: str
    rows: int
    values: tuple[tuple[str | None, int], ...]


class Quarantine(Protocol):
    """Quarantined rows of one folder or table."""

    @property
    def name(self) -> str:
        """What was quarantined."""
        ...

    def rows(self, limit: int | None, rule: str | None = None) -> Iterator[QuarantinedRow]:
        """Yield rows in the order of arrival; with a rule, only those that violate it."""
        ...

    def violations(self) -> Iterator[tuple[Violation, ...]]:
        """Yield the violations of each row."""
        ...


_MAX_COUNTED_VALUES = 10_000
_MAX_VALUES = 3


def count_reasons(rows: Iterable[tuple[Violation, ...]]) -> tuple[int, tuple[ReasonCount, ...]]:
    """Count rows and the rules that they violate, most frequent first."""
    total = 0
    counts: Counter[str] = Counter()
    messages: dict[str, str] = {}
    values: dict[str, Counter[str | None]] = {}
    for violations in rows:
        total += 1
        for violation in violations:
            counts[violation.rule] += 1
            messages.setdefault(violation.rule, violation.message)
            seen = values.setdefault(violation.rule, Counter())
            if violation.value in seen or len(seen) < _MAX_COUNTED_VALUES:
                seen[violation.value] += 1
    ordered = sorted(counts, key=lambda rule: (-counts[rule], rule))
    return total, tuple(
        ReasonCount(rule, messages[rule], counts[rule], tuple(values[rule].most_common(_MAX_VALUES)))
        for rule in ordered
    )


def read_violations(entries: Iterable[Mapping[str, Any]] | None) -> tuple[Violation, ...]:
    """Read the violations column of a quarantined row."""
    return tuple(
        Violation(str(entry["rule"]), str(entry["field"] or ""), entry["value"], str(entry["message"]))
        for entry in entries or ()
    )


def cell_text(value: Any) -> str | None:
    """Return a value as text; nested values as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
