"""The first look: one aggregation over every place of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import FieldPath
from treaty.spark.preparing import MALFORMED, named
from treaty.spark.profile.asking import ask
from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.names import freshness_rank
from treaty.spark.profile.places import Place, places_in
from treaty.spark.profile.readings import moment
from treaty.spark.profile.values import ManyPerRow, OnePerRow, Values

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


def first_look(frame: DataFrame) -> Profile:
    """Find, in one job, how many values each place has, how many differ, and their bounds."""
    places = places_in(frame.schema)
    questions = [(place.path, name, asked) for place in places for name, asked in _questions(place)]
    about_rows = [F.count(F.lit(1)), _malformed(frame)]
    rows, malformed, *answers = ask(frame, [*about_rows, *(asked for _, _, asked in questions)])
    found: dict[FieldPath, dict[str, Any]] = {}
    for (path, name, _), answer in zip(questions, answers, strict=True):
        found.setdefault(path, {})[name] = answer
    facts = tuple(_facts(place, found, rows) for place in places)
    return Profile(frame.schema, rows, malformed, facts)


def _questions(place: Place) -> Iterator[tuple[str, Column]]:
    yield from ((metric.name, metric.asked(place.values)) for metric in _METRICS if isinstance(place.kind, metric.of))
    if isinstance(place.values, OnePerRow) and isinstance(place.kind, _COUNTED):
        yield "distinct", place.values.distinct()
    if isinstance(place.values, ManyPerRow) and place.path.steps[-1].is_mark:
        yield "seen", place.values.seen()
    if len(place.path.steps) == 1 and freshness_rank(place.name) is not None:
        if isinstance(place.kind, _MOMENTS):
            yield "newest", place.values.greatest(lambda value: F.unix_micros(value.cast("timestamp")))
        elif isinstance(place.kind, _TEXT):
            yield "newest", place.values.greatest(lambda value: F.unix_micros(moment(value)))


def _facts(place: Place, found: dict[FieldPath, dict[str, Any]], rows: int) -> Facts:
    answers = dict(found[place.path])
    around = found[place.path.parent]["present"] if len(place.path.steps) > 1 else rows
    places = answers.pop("seen", around)
    return Facts(place.path, place.kind, missing=places - answers["present"], **answers)


def _malformed(frame: DataFrame) -> Column:
    return F.count(named(MALFORMED)) if MALFORMED in frame.schema.names else F.lit(0)
