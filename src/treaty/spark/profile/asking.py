"""Asking Spark for numbers: the only actions of a profile are here, and rows never leave Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.spark.folding import all_of
from treaty.spark.preparing import named
from treaty.spark.profile.places import Place

VALUE = "value"
PLACE = "place"
_MOST_AT_ONCE = 600
"""With more aggregates in one job, planning and compiling take longer than another scan."""
_MOST_PLACES = 100
"""Spark keeps this many groups in memory; with more it would sort all values."""


def ask(frame: DataFrame, aggregates: Sequence[Column]) -> list[Any]:
    """Return the value of each aggregate over the frame, in one job or, for very wide data, a few."""
    answers: list[Any] = []
    for start in range(0, len(aggregates), _MOST_AT_ONCE):
        some = aggregates[start : start + _MOST_AT_ONCE]
        row = frame.agg(*[one.alias(f"a{number}") for number, one in enumerate(some)]).collect()[0]
        answers.extend(row)
    return answers


def ask_of_texts(
    frame: DataFrame, places: Sequence[Place], aggregates: dict[str, Column]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the value of each aggregate over the texts of each place: aggregates of `value`, and of the `place`.

    The texts of all places are put below each other, so that each question is planned and compiled once, not once for
    every column: for most data that is what takes longest.
    """
    named_aggregates = [column.alias(name) for name, column in aggregates.items()]
    for start in range(0, len(places), _MOST_PLACES):
        some = list(enumerate(places))[start : start + _MOST_PLACES]
        pairs = F.flatten(F.array(*[_pairs(place, number) for number, place in some]))
        below = frame.select(F.explode(pairs).alias("pair")).select("pair.*").where(F.col(VALUE).isNotNull())
        for row in below.groupBy(PLACE).agg(*named_aggregates).collect():
            yield places[row[PLACE]], {name: row[name] for name in aggregates}


def _pairs(place: Place, number: int) -> Column:
    """Return what a row has at a place: the number of the place with each text."""
    pairs = place.values.each(lambda value: F.struct(F.lit(number).alias(PLACE), value.cast("string").alias(VALUE)))
    return F.coalesce(pairs, F.array().cast(f"array<struct<{PLACE}:int,{VALUE}:string>>"))


def is_unique(frame: DataFrame, columns: Sequence[str]) -> bool:
    """Tell, exactly, whether no two rows have the same values in some columns and each row has them all."""
    whole = all_of(named(column).isNotNull() for column in columns)
    shared = frame.groupBy(*map(named, columns)).agg(F.count(F.lit(1)).alias("rows"))
    return shared.where((F.col("rows") > F.lit(1)) | ~whole).limit(1).count() == 0


def folders_of(frame: DataFrame) -> tuple[str, ...]:
    """Return the names that stand before a `=` in the path of the frame's first file: what it is partitioned by."""
    for file in frame.inputFiles()[:1]:
        return tuple(part.partition("=")[0] for part in file.split("/")[:-1] if "=" in part)
    return ()
