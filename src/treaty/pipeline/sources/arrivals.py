"""What a source is asked for and what it returns: new rows, encoded as raw payloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.errors import TreatyError
from treaty.pipeline.layers.raw import ENCODING
from treaty.pipeline.sources.ledger import NO_FILES, Entry, FileOutcome, KnownFiles
from treaty.pipeline.tables import Stamp
from treaty.spark.columns import quoted_col
from treaty.spark.json_texts import LOSSLESS_JSON


@dataclass(frozen=True)
class ArrivalRequest:
    """The request of a run for new rows of a source."""

    run: int
    arrived_at: datetime
    """The arrival time of all rows of the run."""
    known: KnownFiles = NO_FILES
    """The files that earlier runs have seen."""
    before: Stamp | None = None
    """The stamp of the published raw rows."""
    password: str | None = field(default=None, repr=False)
    folder: Path = Path()
    """The folder of the project, to which the names of files are relative."""
    columns: frozenset[str] = frozenset()
    """The columns of the contract, to recognize the header of a CSV file; empty: headers are not checked."""


@dataclass(frozen=True)
class Arrivals:
    """What is new in a source."""

    rows: DataFrame | None = None
    """Raw rows; None if there is nothing new."""
    new: int = 0
    """Number of files or tables that they come from, or of records of topics."""
    entries: tuple[Entry, ...] = ()
    """What the run adds to the ledger."""
    known_apart: int = 0
    """Number of files that earlier runs have set apart and that are still there."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """State for the stamp of the rows, from which the next run continues."""
    is_progress: bool = False
    """Whether the state must be published even if nothing is new."""
    read_again: Callable[[TreatyError], Arrivals] | None = field(default=None, repr=False, compare=False)
    """Reads again without the file at fault after the rows could not be written; raises errors about other things."""

    @property
    def left_out(self) -> tuple[Entry, ...]:
        """The entries of files that this run has set apart, and of records that were lost."""
        return tuple(entry for entry in self.entries if entry.outcome in (FileOutcome.SET_APART, FileOutcome.LOST))

    @property
    def set_apart(self) -> int:
        """Number of files that are set apart, by this run or an earlier one."""
        return self.known_apart + sum(entry.outcome is FileOutcome.SET_APART for entry in self.entries)


def json_payload(frame: DataFrame) -> Column:
    """Return each row as the bytes of a JSON object.

    Numbers keep all digits, timestamps their microseconds, and bytes are Base64.
    """
    return F.to_json(F.struct(*map(quoted_col, frame.columns)), LOSSLESS_JSON).cast("binary")


def encoded_as(encoding: str) -> Column:
    """Return the headers that record how a payload is encoded."""
    return F.create_map(F.lit(ENCODING), F.lit(encoding))
