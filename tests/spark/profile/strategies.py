"""Generated columns of many types with recurring values, so that drafts make many guesses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from pyspark.sql import types as spark

ROWS = 60
_NAMES = (
    "order_id",
    "status",
    "updated_at",
    "postal_code",
    "line_no",
    "email",
    "note",
    "percent",
    "a.b",
    "total",
    "tag",
)
_AWKWARD = st.sampled_from(
    [
        *(
            "",
            " ",
            "007",
            "+1",
            "-0",
            "1e5",
            "NaN",
            "1d",
            " 5",
            "5.",
            ".5",
            "true",
            "y",
            "N",
            "2026-02-30",
            "2026-02-29",
        ),
        *("0000-00-00", "9999-12-31", "2026-01-01T24:00:00Z", "{", "{}", "[]", '{"a": 1}', '{"a": "x"}', "[1, null]"),
        *(
            "ORD-001",
            "a@b.de",
            "\n",
            "é",
            "日本",
            "24:00:00",
            "31.12.2026",
            "12/11/2026",
            "x" * 300,
            "null",
            "'",
            "`",
            "\\",
        ),
        *("9" * 18, "9" * 19, "9" * 40, "-9223372036854775808", "0.1", "1234567890.123456789", "+49 170 1234567"),
    ]
)
_DAYS = st.dates(date(1600, 1, 1), date(9999, 12, 31))
_MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))
_ZONES = st.sampled_from(["Z", "+05:30", "-11:00", " UTC", "+0100", ""])
_INSIDE = st.dictionaries(st.sampled_from("abc"), st.none() | st.integers() | st.booleans() | _AWKWARD, max_size=3)
_TEXTS: tuple[st.SearchStrategy[str], ...] = (
    _AWKWARD,
    st.text(max_size=8),
    st.integers().map(str),
    st.integers(-100, 100).map(str),
    st.decimals(-10_000, 10_000, places=2).map(str),
    st.decimals(0, 10**17, places=9).map(lambda number: f"{number:f}"),
    st.floats(width=64).map(str),
    _DAYS.map(str),
    _DAYS.map(lambda day: f"{day:%d.%m.%Y}"),
    _DAYS.map(lambda day: f"{day:%m/%d/%Y}"),
    st.builds(lambda moment, zone: moment.isoformat(" ", "seconds") + zone, _MOMENTS, _ZONES),
    _MOMENTS.map(lambda moment: moment.isoformat() + "Z"),
    st.sampled_from(["true", "false", "True"]),
    st.sampled_from(["y", "n", "No"]),
    st.times().map(lambda time: time.isoformat("seconds")),
    st.integers(0, 9999).map(lambda number: f"ORD-{number:04d}"),
    st.integers(0, 9999).map(lambda number: f"x{number}.y"),
    st.uuids().map(str),
    st.sampled_from(["a@b.de", "c.d@e.org"]),
    _INSIDE.map(json.dumps),
    st.lists(st.none() | st.integers() | _AWKWARD, max_size=3).map(json.dumps),
    st.lists(_INSIDE, max_size=2).map(json.dumps),
)


@dataclass(frozen=True)
class Data:
    """Rows with their schema."""

    schema: spark.StructType
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class _Column:
    kind: spark.DataType
    values: st.SearchStrategy[Any]


_SIMPLE = (
    _Column(spark.StringType(), _AWKWARD),
    _Column(spark.ByteType(), st.integers(-128, 127)),
    _Column(spark.IntegerType(), st.integers(-(2**31), 2**31 - 1)),
    _Column(spark.LongType(), st.integers(0, 2**63 - 1)),
    _Column(spark.DecimalType(38, 0), st.decimals(-(10**37), 10**37, places=0)),
    _Column(spark.DecimalType(9, 4), st.decimals(0, 99_999, places=4)),
    _Column(spark.FloatType(), st.floats(width=32)),
    _Column(spark.DoubleType(), st.floats(width=64) | st.sampled_from([-0.0, float("nan"), float("inf"), 5e-324])),
    _Column(spark.BooleanType(), st.booleans()),
    _Column(spark.DateType(), _DAYS),
    _Column(spark.TimestampType(), _MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC))),
    _Column(spark.TimestampNTZType(), _MOMENTS),
    _Column(spark.BinaryType(), st.binary(max_size=3).map(bytearray)),
)


@st.composite
def _columns(draw: st.DrawFn) -> _Column:
    """Draw a kind of column: simple, or nested up to two deep."""
    inner = draw(st.sampled_from(_SIMPLE))
    maybe = st.none() | inner.values
    match draw(st.sampled_from(["simple", "simple", "object", "array", "map", "objects"])):
        case "object":
            kind = spark.StructType([spark.StructField("p", inner.kind), spark.StructField("q", spark.StringType())])
            return _Column(kind, st.tuples(maybe, st.none() | _AWKWARD))
        case "array":
            return _Column(spark.ArrayType(inner.kind), st.lists(maybe, max_size=3))
        case "map":
            return _Column(spark.MapType(spark.StringType(), inner.kind), st.dictionaries(_AWKWARD, maybe, max_size=2))
        case "objects":
            kind = spark.StructType([spark.StructField("p", spark.ArrayType(inner.kind))])
            return _Column(
                spark.ArrayType(kind),
                st.lists(st.none() | st.tuples(st.none() | st.lists(maybe, max_size=2)), max_size=2),
            )
        case _:
            return inner


@st.composite
def typed_data(draw: st.DrawFn) -> Data:
    """Draw rows with types."""
    columns = draw(st.lists(_columns(), min_size=2, max_size=5))
    return _recurring(draw, columns)


@st.composite
def untyped_data(draw: st.DrawFn) -> Data:
    """Draw rows of texts, each column of one way of writing."""
    ways = draw(st.lists(st.sampled_from(_TEXTS), min_size=3, max_size=7))
    return _recurring(draw, [_Column(spark.StringType(), way) for way in ways])


def _recurring(draw: st.DrawFn, columns: list[_Column]) -> Data:
    """Return many rows from a few values of each column, in different rhythms, and the row's number as a key."""
    names = draw(st.permutations(_NAMES))[: len(columns)]
    pools = [draw(st.lists(column.values, min_size=1, max_size=6)) for column in columns]
    gaps = [draw(st.sampled_from([None, None, 7])) for _ in columns]
    rows = [
        (
            number,
            *[
                None if gap and number % gap == 0 else pool[number % len(pool)]
                for pool, gap in zip(pools, gaps, strict=True)
            ],
        )
        for number in range(draw(st.sampled_from([0, 3, ROWS, ROWS])))
    ]
    kinds = [("key", spark.IntegerType()), *[(name, column.kind) for name, column in zip(names, columns, strict=True)]]
    return Data(spark.StructType([spark.StructField(name, kind) for name, kind in kinds]), rows)


def as_decimal(value: Any) -> Any:
    """Return a whole decimal as Spark takes it."""
    return value if not isinstance(value, Decimal) else +value
