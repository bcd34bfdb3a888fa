"""Infer a draft contract: profile the data, find the key, draft, and drop guesses that too many rows violate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame

from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.columns import MALFORMED_COLUMN, quoted_col
from treaty.spark.input_layout import lay_out_input
from treaty.spark.profile.draft import Draft
from treaty.spark.profile.guess_review import review_guesses
from treaty.spark.profile.key_detection import find_key
from treaty.spark.profile.model import Inferred, TypeOrigin
from treaty.spark.profile.near_misses import set_outliers_apart
from treaty.spark.profile.personal_data import guess_personal_fields
from treaty.spark.profile.text_statistics import collect_text_statistics
from treaty.spark.profile.value_statistics import collect_value_statistics, partition_folders

_SEED = 20_240_229
_SHARE = re.compile(r"(?P<percent>[0-9]+(?:\.[0-9]+)?)\s*%")
_NUMBER = re.compile(r"[1-9][0-9_,]*")


@dataclass(frozen=True)
class Sample:
    """A sample: a percentage or a number of rows."""

    percent: float | None = None
    rows: int | None = None

    def of(self, frame: DataFrame) -> DataFrame:
        """Return the sample of a frame; repeatable as far as Spark allows."""
        if self.percent is not None:
            return frame.sample(fraction=self.percent / 100, seed=_SEED)
        return frame.limit(self.rows or 1)

    def describe(self, rows: int) -> str:
        """Describe the sample."""
        if self.percent is not None:
            return f"a random sample of {self.percent:g} %: {rows:,} rows"
        return f"the first {rows:,} rows that Spark read, which is not a random sample"


def parse_sample(text: str) -> Sample:
    """Parse a percentage such as 5% or a number of rows such as 100000."""
    if match := _SHARE.fullmatch(text.strip()):
        percent = float(match["percent"])
        if 0 < percent <= 100:
            return Sample(percent=percent)
    elif _NUMBER.fullmatch(text.strip()):
        return Sample(rows=int(text.replace(",", "")))
    raise InvalidDocument(
        f"{text!r} is not a sample; write a number of rows such as 100000, or a percentage such as 5%"
    )


ReportStep = Callable[[str], None]


def infer(
    frame: DataFrame,
    contract_id: str,
    object_name: str,
    *,
    typing: TypeOrigin = TypeOrigin.STORED,
    sample: Sample | None = None,
    now: datetime | None = None,
    report: ReportStep = lambda step: None,
) -> Inferred:
    """Draft a contract that nearly every row of the frame (or sample) satisfies; each term is marked as a guess."""
    if frame.isStreaming:
        raise InvalidDocument("a stream cannot be profiled; infer from a table or file that it is written to")
    if not [name for name in frame.schema.names if name != MALFORMED_COLUMN]:
        raise InvalidDocument("the data has no columns to draft a contract from")
    lay_out_input(frame, SchemaObject(object_name), closed=False)  # refuses column names that a contract cannot have
    started_at = now or datetime.now(UTC)
    with _sample_of(frame, sample) as profiled:
        report("profiling all columns")
        profile = collect_value_statistics(profiled)
        if malformed := profile.malformed:  # rows that cannot be read have no values, and decide nothing
            profiled = profiled.where(quoted_col(MALFORMED_COLUMN).isNull())
            profile = replace(collect_value_statistics(profiled), malformed=malformed)
        if sample is not None:
            profile = replace(profile, sample=sample.describe(profile.rows))
        report("profiling text columns")
        profile = collect_text_statistics(profiled, profile)
        report("looking for near misses")
        profile = set_outliers_apart(profiled, profile)
        draft = Draft(contract_id, object_name, profile, typing, {}, started_at)
        personal = guess_personal_fields(draft.contract(), profile)
        report("searching for a key")
        key, doubled = find_key(profiled, profile, object_name, set(personal))
        profile = replace(profile, key=key, doubled_keys=doubled, partitions=_partitions(frame))
        report("checking the draft against the data")
        drafted = replace(draft, profile=profile, personal=personal).contract()
        return review_guesses(profiled, Inferred(drafted, profile), started_at)


@contextmanager
def _sample_of(frame: DataFrame, sample: Sample | None) -> Iterator[DataFrame]:
    """Yield the frame or its sample. The first rows are cached, since Spark may return other rows next time."""
    if sample is None:
        yield frame
    elif sample.rows is None:
        yield sample.of(frame)
    else:
        rows = sample.of(frame).persist()
        try:
            yield rows
        finally:
            rows.unpersist()


def _partitions(frame: DataFrame) -> tuple[str, ...]:
    names = set(frame.schema.names)
    return tuple(name for name in partition_folders(frame) if name in names)
