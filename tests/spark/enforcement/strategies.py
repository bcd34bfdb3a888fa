"""Generated contracts and rows: valid values, invalid values and edge cases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from pyspark.sql import types as spark

from treaty.contracts import Contract, contract_from

ROW = "row_number_of_case"
_WORDS = st.sampled_from(["", "a", "EUR", "USD", "ORD-1", "x" * 40, "ä\n€", "1", "-7", "2026-02-30", "NaN", "null"])
_MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))
_HUGE = Decimal("9" * 28 + "." + "9" * 10)
_HUGE_NEGATIVE = Decimal("-" + "9" * 28 + "." + "9" * 10)  # a minus sign would round


@dataclass(frozen=True)
class Column:
    """A field of a contract, the type its data have, and values for it."""

    field: dict[str, Any]
    kind: spark.DataType
    values: st.SearchStrategy[Any]


@dataclass(frozen=True)
class Data:
    """A contract with rows that may or may not keep it."""

    contract: Contract
    schema: spark.StructType
    rows: list[tuple[Any, ...]]


def _string(name: str) -> Column:
    options = {"maxLength": 5, "pattern": "^[A-Z]*$"}
    return Column({"name": name, "logicalType": "string", "logicalTypeOptions": options}, spark.StringType(), _WORDS)


def _listed(name: str) -> Column:
    field = {"name": name, "logicalType": "string", "enum": [{"value": "EUR"}, {"value": "USD"}]}
    return Column(field, spark.StringType(), _WORDS)


def _whole(name: str) -> Column:
    field = {"name": name, "logicalType": "integer", "logicalTypeOptions": {"format": "i32", "minimum": -5}}
    return Column(field, spark.LongType(), st.integers(-10, 10) | st.sampled_from([2**31, -(2**63), 2**63 - 1]))


def _whole_in_text(name: str) -> Column:
    field = {"name": name, "logicalType": "integer", "logicalTypeOptions": {"maximum": 5}}
    return Column(field, spark.StringType(), _WORDS | st.integers().map(str))


def _decimal(name: str) -> Column:
    field = {"name": name, "logicalType": "number", "physicalType": "decimal(10,2)"}
    values = st.decimals(-100, 100, places=3) | st.sampled_from(
        [_HUGE, _HUGE_NEGATIVE, Decimal("0.005"), Decimal("-0.0")]
    )
    return Column(field, spark.DecimalType(38, 10), values)


def _floating(name: str) -> Column:
    field = {"name": name, "logicalType": "number", "logicalTypeOptions": {"maximum": 10.0}}
    return Column(field, spark.DoubleType(), st.floats(width=64) | st.sampled_from([-0.0, float("nan"), float("inf")]))


def _moment(name: str) -> Column:
    options = {"minimum": "2000-01-01T00:00:00Z"}
    return Column(
        {"name": name, "logicalType": "timestamp", "logicalTypeOptions": options}, spark.TimestampType(), _MOMENTS
    )


def _moment_in_text(name: str) -> Column:
    texts = st.sampled_from(
        ["2026-01-01T00:00:00+05:30", "2026-02-30", "12:00", "2026-01-01", "tomorrow", "2026-01-01T24:00:00Z"]
    )
    return Column({"name": name, "logicalType": "timestamp"}, spark.StringType(), texts)


def _day(name: str) -> Column:
    return Column({"name": name, "logicalType": "date"}, spark.DateType(), st.dates(date(1600, 1, 1), date(2400, 1, 1)))


def _object(name: str) -> Column:
    parts = [{"name": "city", "logicalType": "string", "required": True}, {"name": "age", "logicalType": "integer"}]
    kind = spark.StructType([spark.StructField("city", spark.StringType()), spark.StructField("age", spark.LongType())])
    values = st.tuples(st.none() | _WORDS, st.none() | st.integers(-(2**40), 2**40))
    return Column({"name": name, "logicalType": "object", "properties": parts}, kind, values)


def _array(name: str) -> Column:
    item = {"logicalType": "integer", "required": True, "logicalTypeOptions": {"minimum": 0}}
    options = {"maxItems": 3, "uniqueItems": True}
    field = {"name": name, "logicalType": "array", "logicalTypeOptions": options, "items": item}
    return Column(field, spark.ArrayType(spark.IntegerType()), st.lists(st.none() | st.integers(-3, 3), max_size=4))


def _map(name: str) -> Column:
    inside = {
        "key": {"logicalType": "string", "logicalTypeOptions": {"maxLength": 3}},
        "value": {"logicalType": "integer"},
    }
    values = st.dictionaries(_WORDS, st.none() | _WORDS, max_size=3)
    field = {"name": name, "logicalType": "map", "map": inside}
    return Column(field, spark.MapType(spark.StringType(), spark.StringType()), values)


def _json(name: str) -> Column:
    texts = st.sampled_from(['{"n": 1}', '{"n": "x"}', "{}", "[1]", "{", "", '{"n": 1, "more": 2}'])
    part = {"name": "n", "logicalType": "integer", "required": True}
    return Column({"name": name, "logicalType": "object", "properties": [part]}, spark.StringType(), texts)


_COLUMNS = (
    _string,
    _listed,
    _whole,
    _whole_in_text,
    _decimal,
    _floating,
    _moment,
    _moment_in_text,
    _day,
    _object,
    _array,
    _map,
    _json,
)


@st.composite
def data(draw: st.DrawFn) -> Data:
    """Draw a contract of several fields with a key, and rows; keys repeat, and anything may be null."""
    makers = draw(st.lists(st.sampled_from(_COLUMNS), min_size=1, max_size=6))
    columns = [maker(f"c{number}") for number, maker in enumerate(makers)]
    fields = [{**column.field, "required": draw(st.booleans())} for column in columns]
    key = {"name": "key", "logicalType": "integer", "primaryKey": True}
    number = {"name": ROW, "logicalType": "integer"}
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": "generated",
        "version": "1.0.0",
        "status": "active",
        "content": draw(st.sampled_from(["open", "closed"])),
        "schema": [{"name": "rows", "properties": [key, *fields, number]}],
    }
    kinds = [("key", spark.IntegerType()), *[(f"c{place}", column.kind) for place, column in enumerate(columns)]]
    kinds += [("extra", spark.StringType()), (ROW, spark.IntegerType())]
    schema = spark.StructType([spark.StructField(name, kind) for name, kind in kinds])
    keys = st.none() | st.integers(0, 6)
    one = st.tuples(keys, *[st.none() | column.values for column in columns], st.none() | _WORDS)
    rows = draw(st.lists(one, max_size=12))
    return Data(contract_from(document), schema, [(*row, place) for place, row in enumerate(rows)])
