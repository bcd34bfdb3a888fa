"""What a source is asked, and what it answers: rows that are new, and what people should know of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.raw import ENCODING
from treaty.pipeline.tables import Stamp
from treaty.spark.columns import quoted_col


@dataclass(frozen=True)
class Asking:
    """One run's question for what is new."""

    run: int
    arrived_at: datetime
    """One moment for all rows of the run."""
    known: DataFrame | None = None
    """The files that were read before, with their size and time of change."""
    before: Stamp | None = None
    """What was published of the source before."""
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Arrivals:
    """What is new in a source."""

    rows: DataFrame | None = None
    """Raw rows; None where there is nothing new."""
    new: int = 0
    """How many files or tables they come from."""
    notes: tuple[str, ...] = ()
    """What was left alone, and why."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """What the stamp of the rows must say for the next run to go on from there."""


_EXACT = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ignoreNullFields": "false",
}


def json_payload(frame: DataFrame, without: str | None = None) -> Column:
    """Return each row as the bytes of a JSON object: numbers with all their digits, moments to the microsecond, bytes
    in base64.
    """
    columns = [quoted_col(name) for name in frame.columns if name != without]
    return F.to_json(F.struct(*columns), _EXACT).cast("binary")


def encoded_as(encoding: str) -> Column:
    """Return the headers of records that were written down in some way."""
    return F.create_map(F.lit(ENCODING), F.lit(encoding))
