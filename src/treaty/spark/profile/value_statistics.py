"""Statistics of all values, from one aggregation. All Spark actions of a profile are here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import FieldPath
from treaty.spark.columns import MALFORMED_COLUMN, all_of, quoted_col
from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.name_hints import freshness_rank
from treaty.spark.profile.text_types import parse_timestamp
from treaty.spark.profile.value_paths import ManyPerRow, OnePerRow, ValuePath, Values, list_value_paths

_TEXT = (spark.StringType,)
_NUMERIC_TYPES = (
    spark.ByteType,
    spark.ShortType,
    spark.IntegerType,
    spark.LongType,
    spark.DecimalType,
    spark.FloatType,
    spark.DoubleType,
)
_TEMPORAL_TYPES = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_COUNTED = (*_TEXT, *_NUMERIC_TYPES, *_TEMPORAL_TYPES)
_MAX_COMPARED_LENGTH = 200
"""Texts are compared up to this length, so that long texts are not carried through an aggregation."""


@dataclass(frozen=True)
class Metric:
    """One statistic, and the types it applies to."""

    name: str
    of: tuple[type[spark.DataType], ...]
    asked: Callable[[Values], Column]


def _prefix(value: Column) -> Column:
    return F.left(value, F.lit(_MAX_COMPARED_LENGTH))


_METRICS = (
    Metric("present", (spark.DataType,), lambda values: values.present()),
    Metric("least", _NUMERIC_TYPES, lambda values: values.least(lambda value: value)),
    Metric("greatest", _NUMERIC_TYPES, lambda values: values.greatest(lambda value: value)),
    Metric("least", _TEXT, lambda values: values.least(_prefix)),
    Metric("greatest", _TEXT, lambda values: values.greatest(_prefix)),
    Metric("shortest", _TEXT, lambda values: values.least(F.length)),
    Metric("longest", _TEXT, lambda values: values.greatest(F.length)),
)


def collect_value_statistics(frame: DataFrame) -> Profile:
    """Collect counts, distinct counts and bounds of the values at every path in one job."""
    places = list_value_paths(frame.schema)
    questions = [(place.path, name, asked) for place in places for name, asked in _path_aggregates(place)]
    about_rows = [F.count(F.lit(1)), _malformed(frame)]
    rows, malformed, *answers = run_aggregates(frame, [*about_rows, *(asked for _, _, asked in questions)])
    found: dict[FieldPath, dict[str, Any]] = {}
    for (path, name, _), answer in zip(questions, answers, strict=True):
        found.setdefault(path, {})[name] = answer
    facts = tuple(_facts(place, found, rows) for place in places)
    return Profile(frame.schema, rows, malformed, facts)


def _path_aggregates(place: ValuePath) -> Iterator[tuple[str, Column]]:
    yield from ((metric.name, metric.asked(place.values)) for metric in _METRICS if isinstance(place.kind, metric.of))
    if isinstance(place.values, OnePerRow) and isinstance(place.kind, _COUNTED):
        yield "distinct", place.values.distinct()
    if isinstance(place.values, ManyPerRow) and place.path.steps[-1].is_mark:
        yield "seen", place.values.seen()
    if len(place.path.steps) == 1 and freshness_rank(place.name) is not None:
        if isinstance(place.kind, _TEMPORAL_TYPES):
            yield "newest", place.values.greatest(lambda value: F.unix_micros(value.cast("timestamp")))
        elif isinstance(place.kind, _TEXT):
            yield "newest", place.values.greatest(lambda value: F.unix_micros(parse_timestamp(value)))


def _facts(place: ValuePath, found: dict[FieldPath, dict[str, Any]], rows: int) -> Facts:
    answers = dict(found[place.path])
    around = found[place.path.parent]["present"] if len(place.path.steps) > 1 else rows
    places = answers.pop("seen", around)
    return Facts(place.path, place.kind, missing=places - answers["present"], **answers)


def _malformed(frame: DataFrame) -> Column:
    return F.count(quoted_col(MALFORMED_COLUMN)) if MALFORMED_COLUMN in frame.schema.names else F.lit(0)


VALUE_COLUMN = "value"
PATH_COLUMN = "place"
_MAX_AGGREGATES_PER_JOB = 600
"""With more aggregates in one job, planning takes longer than another scan."""
_MAX_PATHS_PER_JOB = 100
"""With more groups, Spark would sort all values instead of hashing them in memory."""


def run_aggregates(frame: DataFrame, aggregates: Sequence[Column]) -> list[Any]:
    """Return the value of each aggregate over the frame, in one job or a few for very wide data."""
    answers: list[Any] = []
    for start in range(0, len(aggregates), _MAX_AGGREGATES_PER_JOB):
        some = aggregates[start : start + _MAX_AGGREGATES_PER_JOB]
        row = frame.agg(*[one.alias(f"a{number}") for number, one in enumerate(some)]).collect()[0]
        answers.extend(row)
    return answers


def aggregate_texts(
    frame: DataFrame, places: Sequence[ValuePath], aggregates: dict[str, Column]
) -> Iterator[tuple[ValuePath, dict[str, Any]]]:
    """Yield the aggregates over the texts at each path; they use the columns of value and path.

    The texts of all paths are stacked in one column, so that each aggregate is compiled once and not once per
    column, which takes most of the time for typical data.
    """
    named_aggregates = [column.alias(name) for name, column in aggregates.items()]
    for start in range(0, len(places), _MAX_PATHS_PER_JOB):
        some = list(enumerate(places))[start : start + _MAX_PATHS_PER_JOB]
        pairs = F.flatten(F.array(*[_pairs(place, number) for number, place in some]))
        below = frame.select(F.explode(pairs).alias("pair")).select("pair.*").where(F.col(VALUE_COLUMN).isNotNull())
        for row in below.groupBy(PATH_COLUMN).agg(*named_aggregates).collect():
            yield places[row[PATH_COLUMN]], {name: row[name] for name in aggregates}


def _pairs(place: ValuePath, number: int) -> Column:
    """Return the texts of a row at a path, each with the number of the path."""
    pairs = place.values.each(
        lambda value: F.struct(F.lit(number).alias(PATH_COLUMN), value.cast("string").alias(VALUE_COLUMN))
    )
    return F.coalesce(pairs, F.array().cast(f"array<struct<{PATH_COLUMN}:int,{VALUE_COLUMN}:string>>"))


def is_unique(frame: DataFrame, columns: Sequence[str]) -> bool:
    """Whether some columns are unique and never null, checked exactly."""
    whole = all_of(quoted_col(column).isNotNull() for column in columns)
    shared = frame.groupBy(*map(quoted_col, columns)).agg(F.count(F.lit(1)).alias("rows"))
    return shared.where((F.col("rows") > F.lit(1)) | ~whole).limit(1).count() == 0


def partition_folders(frame: DataFrame) -> tuple[str, ...]:
    """Return the partition columns from the path of the first file of the frame."""
    for file in frame.inputFiles()[:1]:
        return tuple(part.partition("=")[0] for part in file.split("/")[:-1] if "=" in part)
    return ()
