"""Quarantined rows of a pipeline: the events of a source that violate its contract, with their raw rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.errors import NotFound
from treaty.pipeline.layers.events.event_table import FILE, POSITION, RAW_RUN, RUN, Outcome
from treaty.pipeline.layers.raw import COLUMNS, ENCODING
from treaty.pipeline.quarantine.folder_quarantine import short_file
from treaty.pipeline.quarantine.quarantined_rows import (
    QuarantinedRow,
    TopicRecord,
    Violation,
    cell_text,
    read_violations,
)
from treaty.pipeline.tables import OUTCOME
from treaty.pipeline.tables.table_catalog import TableCatalog
from treaty.spark.columns import VIOLATIONS_COLUMN
from treaty.suggestions import did_you_mean

EVENTS, RAW = "events", "raw"
_IS_QUARANTINED = f"{OUTCOME} = '{Outcome.QUARANTINED.value}'"
_SEPARATORS = ",;\t|"
_OF_TOPICS = ("topic", "partition")

Pointer = tuple[int, str, int]
"""The run, file and position of a raw row."""


@dataclass(frozen=True)
class EventQuarantine:
    """The quarantined events of a source, read without Spark."""

    catalog: TableCatalog
    source: str

    @classmethod
    def find(cls, catalog: TableCatalog, name: str) -> EventQuarantine:
        """Return the quarantine of a source by its name, or by the name of its table `events.NAME`."""
        sources = list_sources(catalog)
        source = name.removeprefix(f"{EVENTS}.")
        if source not in sources:
            known = f"there are: {', '.join(sources)}" if sources else "start with: treaty run"
            hint = did_you_mean(source, sources, otherwise=known)
            raise NotFound(f"there are no events of a source {source!r}, and no such folder; {hint}")
        return cls(catalog, source)

    @property
    def name(self) -> str:
        """The table of events."""
        return f"{EVENTS}.{self.source}"

    def violations(self) -> Iterator[tuple[Violation, ...]]:
        """Yield the violations of each row."""
        for row in self.catalog.find_rows(self.name, _IS_QUARANTINED, [VIOLATIONS_COLUMN]):
            yield read_violations(row[VIOLATIONS_COLUMN])

    def rows(self, limit: int | None, rule: str | None = None) -> Iterator[QuarantinedRow]:
        """Yield rows in the order of arrival, each with its raw row; with a rule, only those that violate it."""
        columns = [VIOLATIONS_COLUMN, FILE, POSITION, RAW_RUN, RUN]
        events = self.catalog.find_rows(self.name, _IS_QUARANTINED, columns)
        if rule is not None:
            events = [
                event for event in events if any(entry["rule"] == rule for entry in event[VIOLATIONS_COLUMN] or ())
            ]
        chosen = sorted(events, key=_pointer)[:limit]
        raw = self._raw_rows(chosen)
        for event in chosen:
            yield _row(event, raw.get(_pointer(event)))

    def pointers(self) -> frozenset[Pointer]:
        """Return the raw rows that are quarantined."""
        rows = self.catalog.find_rows(self.name, _IS_QUARANTINED, [FILE, POSITION, RAW_RUN])
        return frozenset(map(_pointer, rows))

    def _raw_rows(self, events: Sequence[Mapping[str, Any]]) -> dict[Pointer, Mapping[str, Any]]:
        """Return the raw rows that events point to."""
        wanted = {_pointer(event) for event in events}
        if not wanted:
            return {}
        runs = ", ".join(str(run) for run in sorted({run for run, _, _ in wanted}))
        positions = ", ".join(str(position) for position in sorted({position for _, _, position in wanted}))
        where = f"_run IN ({runs}) AND position IN ({positions})"
        columns = ["payload", "headers", "file", "position", "_run"]
        state = self.catalog.load(f"{RAW}.{self.source}")
        columns += [name for name in _OF_TOPICS if state and name in state.columns.names]  # earlier releases lack them
        found = self.catalog.find_rows(f"{RAW}.{self.source}", where, columns)
        return {key: row for row in found if (key := (row["_run"], row["file"], row["position"])) in wanted}


def list_sources(catalog: TableCatalog) -> list[str]:
    """Return the sources with a table of events."""
    return [table.removeprefix(f"{EVENTS}.") for table in catalog.list_tables(EVENTS)]


def _pointer(event: Mapping[str, Any]) -> Pointer:
    return event[RAW_RUN], event[FILE], event[POSITION]


def _row(event: Mapping[str, Any], raw: Mapping[str, Any] | None) -> QuarantinedRow:
    raw = raw or {}
    payload = raw.get("payload")
    text = None if payload is None else payload.decode("utf-8", "replace").removeprefix("\ufeff")
    headers, topic = dict(raw.get("headers") or {}), raw.get("topic")
    return QuarantinedRow(
        {} if text is None else parse_cells(text, headers.get(COLUMNS)),
        read_violations(event[VIOLATIONS_COLUMN]),
        file=short_file(event[FILE]) if topic is None else event[FILE],
        number=event[POSITION],
        unit="offset" if topic is not None else "record" if ENCODING in headers else "line",
        run=event[RUN],
        original=text,
        record=None if topic is None else TopicRecord(topic, raw["partition"], event[POSITION], payload),
    )


def parse_cells(text: str, header: str | None) -> dict[str, str | None]:
    """Return the cells of a CSV line under its header, or of a JSON object; empty if the text is neither."""
    if header is not None:
        separator = max(_SEPARATORS, key=header.count)
        names, cells = (next(csv.reader([line.rstrip("\r")], delimiter=separator), []) for line in (header, text))
        return dict(zip(names, (cell or None for cell in cells), strict=True)) if len(names) == len(cells) else {}
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    return {str(name): cell_text(value) for name, value in record.items()} if isinstance(record, dict) else {}
