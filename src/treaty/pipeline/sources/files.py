"""Files as a source: each new file is read once and completely, or set apart with a reason.

A file that cannot be read never stops its source: it is identified, entered in the ledger, and the others are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from treaty.errors import TreatyError
from treaty.pipeline.layers.raw import raw_rows
from treaty.pipeline.project.declarations import Files, Format, Source
from treaty.pipeline.sources.arrivals import ArrivalRequest, Arrivals
from treaty.pipeline.sources.file_heads import REMOVED, FileHead, read_head
from treaty.pipeline.sources.file_listing import ListedFile, list_files, name_in_project
from treaty.pipeline.sources.ledger import Entry, FileOutcome, set_apart
from treaty.pipeline.sources.record_numbers import CHANGED_WHILE_READ, NumberedFile, SurveyedFile, survey
from treaty.pipeline.sources.text_files import is_multiline, judge_text, read_lines, survey_lines, text_records
from treaty.pipeline.sources.typed_files import group_by_schema, identify_records, typed_records
from treaty.spark.readers.read_errors import error_causes, explain_errors

_FAILED_FILE = re.compile(r"(?:reading file|Path does not exist:) (?P<address>\S+?)\.?(?:\s|$)")
_MAX_CHANGES = 3
"""How often reading starts again because a file changed meanwhile."""
_NO_RECORDS = "it has no records"
_SMALL_BYTES = 4 * 1024 * 1024
"""New files up to this size in total are read by one task, and become one file of the raw table."""


@dataclass(frozen=True)
class NewFiles:
    """What a listing found: files to read with their first bytes, and entries of files that are left out."""

    readable: Mapping[ListedFile, FileHead]
    entries: tuple[Entry, ...]
    known_apart: int


def find_new_files(spark: SparkSession | None, origin: Files, request: ArrivalRequest) -> NewFiles:
    """Return the files that no run has seen, without reading more than their first bytes."""
    found = request.known.sort(list_files(spark, origin.pattern, request.folder))
    heads = {file: _head(file, origin, request.columns) for file in found.new}
    problems = (_problem_entry(file, head.problem) for file, head in heads.items() if head.problem)
    readable = {file: head for file, head in heads.items() if not head.problem}
    return NewFiles(readable, (*found.changed, *problems), found.known_apart)


def _head(file: ListedFile, origin: Files, columns: frozenset[str]) -> FileHead:
    if file.problem:
        return FileHead(file.problem)
    return read_head(file.path, origin, columns) if file.is_local else FileHead()


def _problem_entry(file: ListedFile, problem: str) -> Entry:
    """Return the entry of a file with a problem; one that was removed has no size, so that it is read if it returns."""
    return set_apart(replace(file, size=None) if problem == REMOVED else file, problem)


def new_in_files(spark: SparkSession, source: Source, origin: Files, request: ArrivalRequest) -> Arrivals:
    """Return the records of the files that no run has seen."""
    found = find_new_files(spark, origin, request)
    return FileReading(spark, source, origin, request, found).read()


class FileReading:
    """Reading the new files of a source; files that turn out to be unreadable are set apart, and the rest is read."""

    def __init__(
        self, spark: SparkSession, source: Source, origin: Files, request: ArrivalRequest, found: NewFiles
    ) -> None:
        self.spark = spark
        self.source = source
        self.origin = origin
        self.request = request
        self.files = dict(found.readable)
        self.known_apart = found.known_apart
        self.left_out = list(found.entries)
        self.changes = 0

    def read(self) -> Arrivals:
        """Return the records of all files that can be read."""
        while self.files:
            entries: list[Entry] = []
            try:
                with explain_errors(self.origin.pattern):
                    frames = list(self._frames(entries))
            except TreatyError as error:
                self._exclude(error)
                continue
            return self._arrivals(frames, entries)
        return self._arrivals([], [])

    def read_without_failed(self, error: TreatyError) -> Arrivals:
        """Read again after the rows could not be written, without the file at fault; other errors are raised."""
        self._exclude(error)
        return self.read()

    def _arrivals(self, frames: list[DataFrame], entries: list[Entry]) -> Arrivals:
        rows = None
        if frames:
            records = reduce(DataFrame.unionByName, frames)
            rows = self._gather(raw_rows(records, self.source.name, self.request.run, self.request.arrived_at))
        new = sum(entry.outcome is FileOutcome.READ for entry in entries)
        return Arrivals(rows, new, (*self.left_out, *entries), self.known_apart, read_again=self.read_without_failed)

    def _frames(self, entries: list[Entry]) -> Iterator[DataFrame]:
        """Yield the records of the files, and add their entries."""
        if self.origin.format in (Format.JSONL, Format.CSV):
            yield from self._text_frames(entries)
        else:
            yield from self._typed_frames(entries)

    def _text_frames(self, entries: list[Entry]) -> Iterator[DataFrame]:
        lines = read_lines(self.spark, list(self.files))
        surveyed = survey_lines(self._gather(lines), self.origin, self.files.values())
        by_name = {file.name: head for file, head in self.files.items()}
        numbered: dict[str, NumberedFile] = {}
        for address, file in surveyed.files.items():
            name = name_in_project(address, self.request.folder)
            verdict = judge_text(file, by_name[name], self.origin, self.request.columns)
            if verdict.problem:
                outcome = FileOutcome.EMPTY if verdict.is_empty else FileOutcome.SET_APART
                entries.append(Entry(name, file.size, file.modified, outcome, verdict.problem))
                continue
            header = verdict.header
            numbered[address] = NumberedFile(name, header.text, header.line) if header else NumberedFile(name)
            rows = None if is_multiline(self.origin) else file.records - (header is not None)
            entries.append(_read_entry(name, file, rows))
        if numbered:
            yield text_records(lines, surveyed, numbered, self.origin)

    def _typed_frames(self, entries: list[Entry]) -> Iterator[DataFrame]:
        kind = self.origin.format
        groups, problems = group_by_schema(self.spark, kind, list(self.files))
        entries.extend(set_apart(file, problem) for file, problem in problems.items())
        for group in groups:
            records = identify_records(group, kind)
            surveyed = survey(self._gather(records))
            names = {address: name_in_project(address, self.request.folder) for address in surveyed.files}
            entries.extend(_read_entry(names[address], file, file.records) for address, file in surveyed.files.items())
            empty = [file for file in group.files if file.name not in names.values()]
            entries.extend(Entry(file.name, file.size, file.modified, FileOutcome.EMPTY, _NO_RECORDS) for file in empty)
            if names:
                numbered = {address: NumberedFile(name) for address, name in names.items()}
                yield typed_records(records, kind, surveyed, numbered)

    def _gather(self, rows: DataFrame) -> DataFrame:
        """Return the rows of small files in one partition, which saves a shuffle; ids of records stay the same."""
        sizes = [file.size for file in self.files]
        is_small = None not in sizes and sum(filter(None, sizes)) <= _SMALL_BYTES
        return rows.coalesce(1) if is_small else rows

    def _exclude(self, error: TreatyError) -> None:
        """Set apart the file that an error names, or those that were removed; raise the error if there is none."""
        message = _full_message(error)
        if CHANGED_WHILE_READ in message and self.changes < _MAX_CHANGES:
            self.changes += 1
            return
        removed = {file: REMOVED for file in self.files if file.is_local and not Path(file.path).exists()}
        failed = removed or self._named_file(message)
        if not failed:
            raise error
        for file, problem in failed.items():
            del self.files[file]
            self.left_out.append(_problem_entry(file, problem))

    def _named_file(self, message: str) -> dict[ListedFile, str]:
        names = {name_in_project(match["address"], self.request.folder) for match in _FAILED_FILE.finditer(message)}
        reason = f"it cannot be read to its end: {error_causes(message)[-1]}"
        return {file: reason for file in self.files if file.name in names}


def _read_entry(name: str, file: SurveyedFile, rows: int | None) -> Entry:
    return Entry(name, file.size, file.modified, FileOutcome.READ, rows=rows)


def _full_message(error: BaseException) -> str:
    """Return the message of an error with those of its causes."""
    cause = error.__cause__ or getattr(error, "_cause", None)
    return str(error) if cause is None else f"{error}\nCaused by: {_full_message(cause)}"
