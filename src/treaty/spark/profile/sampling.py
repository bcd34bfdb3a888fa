"""Looking at a part of huge data: a share of all rows, or the first rows that Spark meets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import DataFrame

from treaty.errors import InvalidDocument

_SEED = 20_240_229
_SHARE = re.compile(r"(?P<percent>[0-9]+(?:\.[0-9]+)?)\s*%")
_NUMBER = re.compile(r"[1-9][0-9_,]*")


@dataclass(frozen=True)
class Sample:
    """How much is looked at: a share in percent, or a number of rows."""

    percent: float | None = None
    rows: int | None = None

    def of(self, frame: DataFrame) -> DataFrame:
        """Return the part of the frame; the same each time it is read, as far as Spark can tell."""
        if self.percent is not None:
            return frame.sample(fraction=self.percent / 100, seed=_SEED)
        return frame.limit(self.rows or 1)

    def words(self, rows: int) -> str:
        """Say what was looked at."""
        if self.percent is not None:
            return f"a random sample of {self.percent:g} %: {rows:,} rows"
        return f"the first {rows:,} rows that Spark met, which is no random sample"


def parse_sample(text: str) -> Sample:
    """Read a share such as 5%, or a number of rows such as 100000."""
    if found := _SHARE.fullmatch(text.strip()):
        percent = float(found["percent"])
        if 0 < percent <= 100:
            return Sample(percent=percent)
    elif _NUMBER.fullmatch(text.strip()):
        return Sample(rows=int(text.replace(",", "")))
    raise InvalidDocument(f"{text!r} is no sample; write a number of rows such as 100000, or a share such as 5%")
