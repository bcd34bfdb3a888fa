"""Masks on DataFrames: the same cells as on Arrow tables, whichever way they are computed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from tests.documents import contract
from tests.policy.retail_policies import find_test_key, subscription
from tests.spark.property_settings import FEW_EXAMPLES
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.policy import effective_view
from treaty.policy.arrow_views import apply_view as apply_on_arrow
from treaty.spark.masks import apply_view, mask_sql

NOW = datetime(2026, 6, 30, tzinfo=UTC)
FIELDS: list[dict[str, Any]] = [
    {"name": "email", "logicalType": "string"},
    {"name": "count", "logicalType": "integer"},
    {"name": "total", "logicalType": "number"},
    {"name": "amount", "logicalType": "number", "physicalType": "decimal(12,2)"},
    {"name": "born", "logicalType": "date"},
    {"name": "seen", "logicalType": "timestamp"},
    {"name": "country", "logicalType": "string"},
    {
        "name": "lines",
        "logicalType": "array",
        "items": {
            "logicalType": "object",
            "properties": [{"name": "sku", "logicalType": "string"}, {"name": "price", "logicalType": "integer"}],
        },
    },
]
SCHEMA = (
    "email string, count int, total double, amount decimal(12,2), born date, seen timestamp, country string, "
    "lines array<struct<sku: string, price: int>>"
)
MASKS: dict[str, list[Any]] = {
    "email": [
        "redact",
        "null",
        {"mask": "hash", "key": "customer"},
        {"mask": "tokenise", "key": "customer"},
        {"mask": "generalise", "to": "prefix", "length": 2},
    ],
    "count": ["redact", {"mask": "generalise", "to": "range", "width": 7}, {"mask": "hash", "key": "customer"}],
    "total": ["null", {"mask": "generalise", "to": "range", "width": 100}],
    "amount": [{"mask": "generalise", "to": "range", "width": 10}, {"mask": "hash", "key": "customer"}],
    "born": [{"mask": "generalise", "to": to} for to in ("month", "year")] + [{"mask": "hash", "key": "customer"}],
    "seen": [{"mask": "generalise", "to": to} for to in ("day", "month", "year")]
    + [{"mask": "tokenise", "key": "customer"}],
    "lines": ["redact", {"mask": "hash", "key": "customer"}],
    "lines[].sku": ["redact", {"mask": "hash", "key": "customer"}, {"mask": "generalise", "to": "prefix", "length": 1}],
}
PATHS = ("email", "count", "total", "amount", "born", "seen", "country", "lines[].sku", "lines[].price")


def policies() -> st.SearchStrategy[Contract]:
    """Contracts with random masks, regions and ages."""
    rules = st.fixed_dictionaries({}, optional={path: st.sampled_from(masks) for path, masks in MASKS.items()})
    serve = st.dictionaries(st.sampled_from(("DE", "US")), st.sampled_from((["eu"], ["us"], ["*"])), min_size=1)
    residency = serve.map(lambda regions: {"column": "country", "serve": regions})
    retention = st.sampled_from(("seen", "born")).map(lambda column: {"column": column, "at_most": "2000 d"})
    block = st.fixed_dictionaries(
        {"fields": rules.filter(bool)}, optional={"residency": residency, "retention": retention}
    )
    return block.map(lambda policy: contract({"fields": FIELDS, "data_policy": policy}))


def rows() -> st.SearchStrategy[tuple[Any, ...]]:
    """Rows with nulls and extremes."""

    def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(st.none(), values)

    text = st.text(st.characters(codec="utf-8"), max_size=6)
    numbers = st.integers(-(2**31), 2**31 - 1)
    moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))
    line = maybe(st.tuples(maybe(text), maybe(numbers)))
    return st.tuples(
        maybe(text),
        maybe(numbers),
        maybe(st.floats(allow_nan=True, allow_infinity=True)),
        maybe(st.decimals(Decimal("-9999999999.99"), Decimal("9999999999.99"), places=2)),
        maybe(st.dates(date(1900, 1, 1), date(2200, 1, 1))),
        maybe(moments),
        maybe(st.sampled_from(("DE", "US", "FR"))),
        maybe(st.lists(line, max_size=3)),
    )


@FEW_EXAMPLES
@given(
    policy=policies(),
    declared=st.lists(st.sampled_from(PATHS), min_size=1, unique=True),
    region=st.sampled_from(("eu", "us", None)),
    values=st.lists(rows(), max_size=8),
)
def test_spark_and_arrow_give_the_same_cells(
    spark: SparkSession, policy: Contract, declared: list[str], region: str | None, values: list[tuple[Any, ...]]
) -> None:
    view = effective_view(policy, subscription("analytics", *declared), region=region)
    frame = spark.createDataFrame(values, SCHEMA)

    masked = apply_view(frame, view, find_test_key, NOW)
    expected = apply_on_arrow(frame.toArrow(), view, find_test_key, NOW)

    assert masked.columns == expected.column_names
    assert sorted(map(repr, masked.toArrow().to_pylist())) == sorted(map(repr, expected.to_pylist()))


EXAMPLE_ROWS: list[tuple[Any, ...]] = [
    (
        "ann@example.org",
        -3,
        -0.5,
        Decimal("19.99"),
        date(1969, 12, 31),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        "DE",
        [("a1", 5), None, (None, None)],
    ),
    (None, None, None, None, None, None, None, None),
    ("Łódź", 2**31 - 1, float("inf"), Decimal("-0.01"), date(2026, 2, 28), datetime(2026, 2, 28, tzinfo=UTC), "US", []),
]


@pytest.mark.parametrize("number", range(5))
def test_every_mask_gives_the_same_cells_on_spark_and_arrow(any_spark: SparkSession, number: int) -> None:
    rules = {path: masks[number % len(masks)] for path, masks in MASKS.items() if path != "lines"}
    policy = contract({"fields": FIELDS, "data_policy": {"fields": rules}})
    view = effective_view(policy, subscription("analytics"))
    frame = any_spark.createDataFrame(EXAMPLE_ROWS, SCHEMA)

    masked = apply_view(frame, view, find_test_key, NOW).toArrow().to_pylist()
    expected = apply_on_arrow(frame.toArrow(), view, find_test_key, NOW).to_pylist()

    assert sorted(map(repr, masked)) == sorted(map(repr, expected))


def test_periods_do_not_depend_on_the_time_zone_of_the_session(spark: SparkSession) -> None:
    policy = contract({"fields": FIELDS, "data_policy": {"fields": {"seen": {"mask": "generalise", "to": "month"}}}})
    view = effective_view(policy, subscription(None, "seen"))
    moment = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.createDataFrame([(moment,), (moment - timedelta(hours=1),)], "seen timestamp")
        masked = apply_view(frame, view, find_test_key, NOW).toArrow()["seen"].to_pylist()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone or "UTC")
    assert masked == [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]


def test_masks_without_a_key_are_native_and_keys_are_in_no_plan(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = spark.createDataFrame([], SCHEMA)
    native = {"email": "redact", "seen": {"mask": "generalise", "to": "month"}}
    for fields, is_native in ((native, True), ({"email": {"mask": "hash", "key": "customer"}}, False)):
        view = effective_view(contract({"fields": FIELDS, "data_policy": {"fields": fields}}), subscription(None))
        apply_view(frame, view, find_test_key, NOW).explain(extended=True)
        plan = capsys.readouterr().out
        assert ("MapInArrow" not in plan) is is_native
        assert "secret of this year" not in plan


def test_a_mask_that_needs_a_key_is_never_written_as_sql() -> None:
    rules = contract({"fields": FIELDS, "data_policy": {"fields": {"email": {"mask": "hash", "key": "k"}}}})
    policy = rules.treaty.data_policy
    assert policy is not None
    with pytest.raises(InvalidDocument, match="whose readers could see the key"):
        mask_sql("email", spark_types.StringType(), policy.rules[0].mask)
