"""What a source is asked for and what it returns: new rows, encoded as raw payloads."""

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
class ArrivalRequest:
    """The request of a run for new rows of a source."""

    run: int
    arrived_at: datetime
    """The arrival time of all rows of the run."""
    known: DataFrame | None = None
    """The files that were read before, with their size and modification time."""
    before: Stamp | None = None
    """The stamp of the published raw rows."""
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Arrivals:
    """What is new in a source."""

    rows: DataFrame | None = None
    """Raw rows; None if there is nothing new."""
    new: int = 0
    """Number of files or tables that they come from."""
    notes: tuple[str, ...] = ()
    """What was not read, and why."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """State for the stamp of the rows, from which the next run continues."""


_LOSSLESS_JSON = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ignoreNullFields": "false",
}


def json_payload(frame: DataFrame, without: str | None = None) -> Column:
    """Return each row as the bytes of a JSON object.

    Numbers keep all digits, timestamps their microseconds, and bytes are Base64.
    """
    columns = [quoted_col(name) for name in frame.columns if name != without]
    return F.to_json(F.struct(*columns), _LOSSLESS_JSON).cast("binary")


def encoded_as(encoding: str) -> Column:
    """Return the headers that record how a payload is encoded."""
    return F.create_map(F.lit(ENCODING), F.lit(encoding))
