"""Statistics of the values at every path of a row, at any nesting. All Spark actions of a profile are here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.spark.columns import MALFORMED_COLUMN, all_of, quoted_col
from treaty.spark.profile.model import DoubledKeys, Facts, Profile
from treaty.spark.profile.name_hints import Limits, freshness_rank, usual_limits
from treaty.spark.profile.text_analysis import parse_timestamp
from treaty.spark.type_conversion import ColumnFunction


class Values(Protocol):
    """Aggregates over all values at a path, regardless of nesting."""

    def present(self) -> Column:
        """Count the values that are not null."""
        ...

    def least(self, of: ColumnFunction) -> Column:
        """Return the minimum of an expression over the values."""
        ...

    def greatest(self, of: ColumnFunction) -> Column:
        """Return the maximum of an expression over the values."""
        ...

    def each(self, of: ColumnFunction) -> Column:
        """Return an array with an expression for each value of a row."""
        ...

    def part(self, name: str) -> Values:
        """Return the values of a field of these objects."""
        ...

    def inside(self, of: ColumnFunction) -> Values:
        """Return the elements of the arrays that an expression yields for the values."""
        ...


@dataclass(frozen=True)
class OnePerRow:
    """A column or a field of one: one value per row."""

    column: Column

    def present(self) -> Column:
        """Count the values that are not null."""
        return F.count(self.column)

    def least(self, of: ColumnFunction) -> Column:
        """Return the minimum of an expression over the values."""
        return F.min(of(self.column))

    def greatest(self, of: ColumnFunction) -> Column:
        """Return the maximum of an expression over the values."""
        return F.max(of(self.column))

    def distinct(self) -> Column:
        """Return the approximate number of distinct values."""
        return F.approx_count_distinct(self.column)

    def each(self, of: ColumnFunction) -> Column:
        """Return an array with an expression for each value of a row."""
        return F.array(of(self.column))

    def part(self, name: str) -> OnePerRow:
        """Return the values of a field of these objects."""
        return OnePerRow(self.column.getField(name))

    def inside(self, of: ColumnFunction) -> ManyPerRow:
        """Return the elements of the arrays that an expression yields for the values."""
        return ManyPerRow(of(self.column))


@dataclass(frozen=True)
class ManyPerRow:
    """An array of the values of a row at a path, or null."""

    column: Column

    def present(self) -> Column:
        """Count the values that are not null."""
        return _sum_of_sizes(self._non_null)

    def seen(self) -> Column:
        """Count all elements, including nulls."""
        return _sum_of_sizes(self.column)

    def least(self, of: ColumnFunction) -> Column:
        """Return the minimum of an expression over the values."""
        return F.min(F.array_min(F.transform(self.column, of)))

    def greatest(self, of: ColumnFunction) -> Column:
        """Return the maximum of an expression over the values."""
        return F.max(F.array_max(F.transform(self.column, of)))

    def each(self, of: ColumnFunction) -> Column:
        """Return an array with an expression for each value of a row."""
        return F.transform(self.column, of)

    def part(self, name: str) -> ManyPerRow:
        """Return the values of a field of these objects."""
        return ManyPerRow(F.transform(self._non_null, lambda value: value.getField(name)))

    def inside(self, of: ColumnFunction) -> ManyPerRow:
        """Return the elements of the arrays that an expression yields for the values."""
        return ManyPerRow(F.flatten(F.transform(self._non_null, of)))

    @property
    def _non_null(self) -> Column:
        return F.filter(self.column, lambda value: value.isNotNull())


def _sum_of_sizes(arrays: Column) -> Column:
    return F.coalesce(F.sum(F.array_size(arrays)), F.lit(0))


@dataclass(frozen=True)
class ValuePath:
    """The path of values, their type, and their aggregates."""

    path: FieldPath
    kind: spark.DataType
    values: Values

    @property
    def name(self) -> str:
        """The name of the field, or of the field that contains these elements."""
        return next((step.text for step in reversed(self.path.steps) if not step.is_mark), "")


def list_value_paths(struct: spark.StructType) -> tuple[ValuePath, ...]:
    """Return the paths to all values in the rows of a frame, parents first."""
    columns = [column for column in struct.fields if column.name != MALFORMED_COLUMN]
    return tuple(
        place
        for column in columns
        for place in _from(FieldPath().field(column.name), column.dataType, OnePerRow(quoted_col(column.name)))
    )


def _from(path: FieldPath, kind: spark.DataType, values: Values) -> Iterator[ValuePath]:
    yield ValuePath(path, kind, values)
    if isinstance(kind, spark.StructType):
        for child in kind.fields:
            yield from _from(path.field(child.name), child.dataType, values.part(child.name))
    elif isinstance(kind, spark.ArrayType):
        yield from _from(path.into(ITEMS), kind.elementType, values.inside(lambda value: value))
    elif isinstance(kind, spark.MapType):
        yield from _from(path.into(MAP_KEYS), kind.keyType, values.inside(F.map_keys))
        yield from _from(path.into(MAP_VALUES), kind.valueType, values.inside(F.map_values))


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
MAX_COMPARED_LENGTH = 200
"""Texts are compared up to this length, so that long texts are not carried through an aggregation."""


@dataclass(frozen=True)
class Metric:
    """One statistic, and the types it applies to."""

    name: str
    of: tuple[type[spark.DataType], ...]
    aggregate: Callable[[Values], Column]


def _prefix(value: Column) -> Column:
    return F.left(value, F.lit(MAX_COMPARED_LENGTH))


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
    aggregates = [(place.path, name, column) for place in places for name, column in _path_aggregates(place)]
    about_rows = [F.count(F.lit(1)), _malformed(frame)]
    rows, malformed, *values = run_aggregates(frame, [*about_rows, *(column for _, _, column in aggregates)])
    by_path: dict[FieldPath, dict[str, Any]] = {}
    for (path, name, _), value in zip(aggregates, values, strict=True):
        by_path.setdefault(path, {})[name] = value
    facts = tuple(_facts(place, by_path, rows) for place in places)
    return Profile(frame.schema, rows, malformed, facts)


def _path_aggregates(place: ValuePath) -> Iterator[tuple[str, Column]]:
    yield from (
        (metric.name, metric.aggregate(place.values)) for metric in _METRICS if isinstance(place.kind, metric.of)
    )
    if isinstance(place.values, OnePerRow) and isinstance(place.kind, _COUNTED):
        yield "distinct", place.values.distinct()
    if isinstance(place.values, ManyPerRow) and place.path.steps[-1].is_mark:
        yield "seen", place.values.seen()
    if isinstance(place.values, OnePerRow) and isinstance(place.kind, _NUMERIC_TYPES):
        yield "beyond_limits", F.count_if(_is_beyond(place.values.column, usual_limits(place.name)))
    if len(place.path.steps) == 1 and freshness_rank(place.name) is not None:
        if isinstance(place.kind, _TEMPORAL_TYPES):
            yield "newest", place.values.greatest(lambda value: F.unix_micros(value.cast("timestamp")))
        elif isinstance(place.kind, _TEXT):
            yield "newest", place.values.greatest(lambda value: F.unix_micros(parse_timestamp(value)))


def _is_beyond(number: Column, limits: Limits) -> Column:
    low = number < F.lit(limits.low)
    return low if limits.high is None else low | (number > F.lit(limits.high))


def _facts(place: ValuePath, by_path: dict[FieldPath, dict[str, Any]], rows: int) -> Facts:
    values = dict(by_path[place.path])
    around = by_path[place.path.parent]["present"] if len(place.path.steps) > 1 else rows
    places = values.pop("seen", around)
    return Facts(place.path, place.kind, missing=places - values["present"], **values)


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
    values: list[Any] = []
    for start in range(0, len(aggregates), _MAX_AGGREGATES_PER_JOB):
        some = aggregates[start : start + _MAX_AGGREGATES_PER_JOB]
        row = frame.agg(*[column.alias(f"a{number}") for number, column in enumerate(some)]).collect()[0]
        values.extend(row)
    return values


def aggregate_texts(
    frame: DataFrame, places: Sequence[ValuePath], aggregates: dict[str, Column], condition: Column | None = None
) -> Iterator[tuple[ValuePath, dict[str, Any]]]:
    """Yield the aggregates over the texts at each path, or over those that meet a condition.

    Aggregates and condition use the columns of value and path.

    The texts of all paths are stacked in one column, so that each aggregate is compiled once and not once per
    column, which takes most of the time for typical data.
    """
    named_aggregates = [column.alias(name) for name, column in aggregates.items()]
    for texts in stack_texts(frame, places):
        chosen = texts if condition is None else texts.where(condition)
        for row in chosen.groupBy(PATH_COLUMN).agg(*named_aggregates).collect():
            yield places[row[PATH_COLUMN]], {name: row[name] for name in aggregates}


def stack_texts(frame: DataFrame, places: Sequence[ValuePath]) -> Iterator[DataFrame]:
    """Yield frames with all texts at some paths, each with the number of its path."""
    for start in range(0, len(places), _MAX_PATHS_PER_JOB):
        some = list(enumerate(places))[start : start + _MAX_PATHS_PER_JOB]
        pairs = F.flatten(F.array(*[_pairs(place, number) for number, place in some]))
        yield frame.select(F.explode(pairs).alias("pair")).select("pair.*").where(F.col(VALUE_COLUMN).isNotNull())


def by_place(values: Sequence[Column]) -> Column:
    """Return a column with the value for the path of each text."""
    return F.element_at(F.array(*values), F.col(PATH_COLUMN) + F.lit(1))


def _pairs(place: ValuePath, number: int) -> Column:
    """Return the texts of a row at a path, each with the number of the path."""
    pairs = place.values.each(
        lambda value: F.struct(F.lit(number).alias(PATH_COLUMN), value.cast("string").alias(VALUE_COLUMN))
    )
    return F.coalesce(pairs, F.array().cast(f"array<struct<{PATH_COLUMN}:int,{VALUE_COLUMN}:string>>"))


def count_doubled_keys(frame: DataFrame, columns: Sequence[str]) -> DoubledKeys:
    """Count the rows that share the values of some columns, and those that lack one, exactly."""
    complete = all_of(quoted_col(column).isNotNull() for column in columns)
    rows = F.col("rows")
    groups = frame.groupBy(*map(quoted_col, columns)).agg(F.count(F.lit(1)).alias("rows"))
    shared = complete & (rows > F.lit(1))
    counts = groups.agg(F.sum(F.when(shared, rows)), F.count_if(shared), F.sum(F.when(~complete, rows))).collect()[0]
    return DoubledKeys(*(count or 0 for count in counts))


def partition_folders(frame: DataFrame) -> tuple[str, ...]:
    """Return the partition columns from the path of the first file of the frame."""
    for file in frame.inputFiles()[:1]:
        return tuple(part.partition("=")[0] for part in file.split("/")[:-1] if "=" in part)
    return ()
