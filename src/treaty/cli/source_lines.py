"""Find the lines of quarantined rows in their source files.

A quarantine of `treaty test` knows the number of a row in its file. In a CSV file, the header and values with line
breaks make the line another number.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.pipeline.quarantine import QuarantinedRow

_TEXT_FILES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
_MAX_FILE_BYTES = 512 * 1024 * 1024
LINE = "line"


def locate_lines(rows: Iterable[QuarantinedRow]) -> list[QuarantinedRow]:
    """Return rows with their line, where the text file they came from still has them; other rows are unchanged."""
    known = list(rows)
    files = {
        row.file
        for row in known
        if row.record is None and row.file is not None and row.number is not None and row.unit != LINE
    }
    lines = {file: _LineFinder(known, file).find() for file in files if _is_local_text(file)}
    return [
        replace(row, number=line, unit=LINE)
        if row.file is not None
        and row.number is not None
        and (line := lines.get(row.file, {}).get(row.number)) is not None
        else row
        for row in known
    ]


def _is_local_text(file: str) -> bool:
    path = Path(file)
    return file.lower().endswith(_TEXT_FILES) and path.is_file() and path.stat().st_size <= _MAX_FILE_BYTES


class _LineFinder:
    """Compares the records of a file with the rows that have their number; only equal ones are found."""

    def __init__(self, rows: Sequence[QuarantinedRow], file: str) -> None:
        self._file = Path(file)
        self._rows = {row.number: row for row in rows if row.file == file and row.number is not None}

    def find(self) -> dict[int, int]:
        """Return lines by the numbers of rows."""
        try:
            with self._file.open(encoding="utf-8", newline="") as text:
                if self._file.suffix.lower() in (".csv", ".tsv", ".txt"):
                    return dict(self._in_csv(text))
                return dict(self._in_lines(text))
        except (OSError, UnicodeDecodeError, csv.Error):
            return {}

    def _in_csv(self, text: Iterable[str]) -> Iterator[tuple[int, int]]:
        columns = next((list(row.cells) for row in self._rows.values() if row.cells), [])
        lines = iter(text)
        head = next(lines, "")
        separator = next((mark for mark in ",;\t|" if next(csv.reader([head], delimiter=mark), []) == columns), None)
        if separator is None:
            return
        reader = csv.reader(lines, delimiter=separator)
        number, line = 0, 2  # the line below the header
        for cells in reader:
            if cells:
                number += 1
                row = self._rows.get(number)
                if row is not None and (not row.cells or _are_equal(cells, row)):
                    yield number, line
            line = reader.line_num + 2

    def _in_lines(self, text: Iterable[str]) -> Iterator[tuple[int, int]]:
        number = 0
        for line, content in enumerate(text, start=1):
            if not content.strip():
                continue
            number += 1
            if number in self._rows:
                yield number, line


def _are_equal(cells: Sequence[str], row: QuarantinedRow) -> bool:
    return [cell or None for cell in cells] == [value or None for value in row.cells.values()]
