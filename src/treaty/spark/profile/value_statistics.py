"""The first look: one aggregation over every place of the data."""

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
_NUMBERS = (
    spark.ByteType,
    spark.ShortType,
    spark.IntegerType,
    spark.LongType,
    spark.DecimalType,
    spark.FloatType,
    spark.DoubleType,
)
_MOMENTS = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_COUNTED = (*_TEXT, *_NUMBERS, *_MOMENTS)
_LONGEST_COMPARED = 200
"""Texts are compared up to here: no text of megabytes is carried through an aggregation."""


@dataclass(frozen=True)
class Metric:
    """One number about the values of a place, and the types it is asked of."""

    name: str
    of: tuple[type[spark.DataType], ...]
    asked: Callable[[Values], Column]


def _start(value: Column) -> Column:
    return F.left(value, F.lit(_LONGEST_COMPARED))


_METRICS = (
    Metric("present", (spark.DataType,), lambda values: values.present()),
    Metric("least", _NUMBERS, lambda values: values.least(lambda value: value)),
    Metric("greatest", _NUMBERS, lambda values: values.greatest(lambda value: value)),
    Metric("least", _TEXT, lambda values: values.least(_start)),
    Metric("greatest", _TEXT, lambda values: values.greatest(_start)),
    Metric("shortest", _TEXT, lambda values: values.least(F.length)),
    Metric("longest", _TEXT, lambda values: values.greatest(F.length)),
)


def collect_value_statistics(frame: DataFrame) -> Profile:
    """Find, in one job, how many values each place has, how many differ, and their bounds."""
    places = list_value_paths(frame.schema)
    questions = [(place.path, name, asked) for place in places for name, asked in _questions(place)]
    about_rows = [F.count(F.lit(1)), _malformed(frame)]
    rows, malformed, *answers = run_aggregates(frame, [*about_rows, *(asked for _, _, asked in questions)])
    found: dict[FieldPath, dict[str, Any]] = {}
    for (path, name, _), answer in zip(questions, answers, strict=True):
        found.setdefault(path, {})[name] = answer
    facts = tuple(_facts(place, found, rows) for place in places)
    return Profile(frame.schema, rows, malformed, facts)


def _questions(place: ValuePath) -> Iterator[tuple[str, Column]]:
    yield from ((metric.name, metric.asked(place.values)) for metric in _METRICS if isinstance(place.kind, metric.of))
    if isinstance(place.values, OnePerRow) and isinstance(place.kind, _COUNTED):
        yield "distinct", place.values.distinct()
    if isinstance(place.values, ManyPerRow) and place.path.steps[-1].is_mark:
        yield "seen", place.values.seen()
    if len(place.path.steps) == 1 and freshness_rank(place.name) is not None:
        if isinstance(place.kind, _MOMENTS):
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
_MOST_AT_ONCE = 600
"""With more aggregates in one job, planning and compiling take longer than another scan."""
_MOST_PLACES = 100
"""Spark keeps this many groups in memory; with more it would sort all values."""


def run_aggregates(frame: DataFrame, aggregates: Sequence[Column]) -> list[Any]:
    """Return the value of each aggregate over the frame, in one job or, for very wide data, a few."""
    answers: list[Any] = []
    for start in range(0, len(aggregates), _MOST_AT_ONCE):
        some = aggregates[start : start + _MOST_AT_ONCE]
        row = frame.agg(*[one.alias(f"a{number}") for number, one in enumerate(some)]).collect()[0]
        answers.extend(row)
    return answers


def aggregate_texts(
    frame: DataFrame, places: Sequence[ValuePath], aggregates: dict[str, Column]
) -> Iterator[tuple[ValuePath, dict[str, Any]]]:
    """Yield the value of each aggregate over the texts of each place: aggregates of `value`, and of the `place`.

    The texts of all places are put below each other, so that each question is planned and compiled once, not once for
    every column: for most data that is what takes longest.
    """
    named_aggregates = [column.alias(name) for name, column in aggregates.items()]
    for start in range(0, len(places), _MOST_PLACES):
        some = list(enumerate(places))[start : start + _MOST_PLACES]
        pairs = F.flatten(F.array(*[_pairs(place, number) for number, place in some]))
        below = frame.select(F.explode(pairs).alias("pair")).select("pair.*").where(F.col(VALUE_COLUMN).isNotNull())
        for row in below.groupBy(PATH_COLUMN).agg(*named_aggregates).collect():
            yield places[row[PATH_COLUMN]], {name: row[name] for name in aggregates}


def _pairs(place: ValuePath, number: int) -> Column:
    """Return what a row has at a place: the number of the place with each text."""
    pairs = place.values.each(
        lambda value: F.struct(F.lit(number).alias(PATH_COLUMN), value.cast("string").alias(VALUE_COLUMN))
    )
    return F.coalesce(pairs, F.array().cast(f"array<struct<{PATH_COLUMN}:int,{VALUE_COLUMN}:string>>"))


def is_unique(frame: DataFrame, columns: Sequence[str]) -> bool:
    """Tell, exactly, whether no two rows have the same values in some columns and each row has them all."""
    whole = all_of(quoted_col(column).isNotNull() for column in columns)
    shared = frame.groupBy(*map(quoted_col, columns)).agg(F.count(F.lit(1)).alias("rows"))
    return shared.where((F.col("rows") > F.lit(1)) | ~whole).limit(1).count() == 0


def partition_folders(frame: DataFrame) -> tuple[str, ...]:
    """Return the names that stand before a `=` in the path of the frame's first file: what it is partitioned by."""
    for file in frame.inputFiles()[:1]:
        return tuple(part.partition("=")[0] for part in file.split("/")[:-1] if "=" in part)
    return ()
