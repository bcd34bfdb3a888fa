"""Effective views on Arrow tables."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import contract
from tests.policy.retail_policies import FIELDS, ORDERS, find_test_key, subscription
from treaty.contracts.data_policies import Granularity, Mask, MaskMethod
from treaty.errors import InvalidDocument
from treaty.policy import effective_view
from treaty.policy.arrow_masks import mask_array
from treaty.policy.arrow_views import apply_view
from treaty.policy.pseudonyms import detokenise, hasher, tokeniser

NOW = datetime(2026, 6, 30, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {
        "order_id": "o1",
        "buyer": "ann",
        "phone": "+49 30",
        "postcode": "10115",
        "placed_on": date(2026, 5, 17),
        "total": 249.5,
        "country": "DE",
        "address": {"city": "Berlin", "street": "Elm 1"},
    },
    {
        "order_id": "o2",
        "buyer": None,
        "phone": None,
        "postcode": None,
        "placed_on": None,
        "total": None,
        "country": None,
        "address": None,
    },
]
TABLE = pa.Table.from_pylist(ROWS)
HASH = hasher(find_test_key("customer"))


def test_a_consumer_reads_its_fields_masked_for_its_purpose() -> None:
    view = effective_view(ORDERS, subscription("analytics", "order_id", "buyer", "postcode", "placed_on", "total"))
    assert apply_view(TABLE, view, find_test_key, NOW).to_pylist() == [
        {
            "order_id": "o1",
            "buyer": HASH("ann"),
            "postcode": "10",
            "placed_on": date(2026, 5, 1),
            "total": 200,
        },
        {"order_id": "o2", "buyer": None, "postcode": None, "placed_on": None, "total": None},
    ]


def test_parts_of_an_object_are_masked_and_left_out() -> None:
    view = effective_view(ORDERS, subscription("analytics", "address.city"))
    assert apply_view(TABLE, view, find_test_key, NOW).to_pylist() == [
        {"address": {"city": HASH("Berlin")}},
        {"address": None},
    ]


def test_an_empty_table_has_the_same_columns_as_a_full_one() -> None:
    view = effective_view(ORDERS, subscription("analytics"))
    empty = apply_view(TABLE.slice(0, 0), view, find_test_key, NOW)
    assert empty.schema == apply_view(TABLE, view, find_test_key, NOW).schema
    assert len(empty) == 0


NESTED = [
    {"name": "id", "logicalType": "integer"},
    {
        "name": "lines",
        "logicalType": "array",
        "items": {
            "logicalType": "object",
            "properties": [{"name": "sku", "logicalType": "string"}, {"name": "price", "logicalType": "number"}],
        },
    },
    {
        "name": "notes",
        "logicalType": "map",
        "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "string"}},
    },
]
LINES = pa.struct([("sku", pa.string()), ("price", pa.float64())])
NESTED_TABLE = pa.table(
    {
        "id": [1, 2, 3, 4],
        "lines": pa.array(
            [[{"sku": "a", "price": 1.0}, {"sku": "b", "price": 2.0}], None, [], [None, {"sku": "c", "price": None}]],
            pa.list_(LINES),
        ),
        "notes": pa.array([[("x", "1")], None, [], [("y", None), ("z", "2")]], pa.map_(pa.string(), pa.string())),
    }
)


@pytest.mark.parametrize("start", [0, 1])
def test_items_of_arrays_and_values_of_maps_are_masked_in_place(start: int) -> None:
    block = {"fields": {"lines[].sku": "redact", "notes{}": "redact"}}
    fields = ("id", "lines[].sku", "notes")
    view = effective_view(contract({"fields": NESTED, "data_policy": block}), subscription(None, *fields))
    expected = [
        {"id": 1, "lines": [{"sku": "***"}, {"sku": "***"}], "notes": [("x", "***")]},
        {"id": 2, "lines": None, "notes": None},
        {"id": 3, "lines": [], "notes": []},
        {"id": 4, "lines": [None, {"sku": "***"}], "notes": [("y", "***"), ("z", "***")]},
    ]
    assert apply_view(NESTED_TABLE.slice(start), view, find_test_key, NOW).to_pylist() == expected[start:]


def test_maps_whose_keys_are_masked_are_null() -> None:
    block = {"fields": {"notes{key}": "redact"}}
    view = effective_view(contract({"fields": NESTED, "data_policy": block}), subscription(None, "notes"))
    assert apply_view(NESTED_TABLE, view, find_test_key, NOW).to_pylist() == [{"notes": None}] * 4


@pytest.mark.parametrize(("region", "served"), [("eu", ["o1"]), ("us", []), (None, [])])
def test_rows_of_other_regions_and_without_one_stay(region: str | None, served: list[str]) -> None:
    block = {"residency": {"column": "country", "serve": {"DE": ["eu"]}}}
    policy = contract({"fields": FIELDS, "data_policy": block})
    view = effective_view(policy, subscription(None, "order_id"), region=region)
    assert apply_view(TABLE, view, find_test_key, NOW)["order_id"].to_pylist() == served


@pytest.mark.parametrize(("days", "served"), [(45, ["o1"]), (43, [])])
def test_rows_that_are_too_old_or_have_no_time_stay(days: int, served: list[str]) -> None:
    block = {"retention": {"column": "placed_on", "at_most": f"{days} d"}}
    view = effective_view(contract({"fields": FIELDS, "data_policy": block}), subscription(None, "order_id"))
    assert apply_view(TABLE, view, find_test_key, NOW)["order_id"].to_pylist() == served


def test_a_refused_consumer_reads_no_rows_and_no_columns() -> None:
    block = {"purposes": ["support"]}
    view = effective_view(contract({"fields": FIELDS, "data_policy": block}), subscription("marketing"))
    result = apply_view(TABLE, view, find_test_key, NOW)
    assert (result.num_rows, result.num_columns) == (0, 0)


def _generalise(to: Granularity, size: int | None = None) -> Mask:
    return Mask(MaskMethod.GENERALISE, to=to, size=size)


BERLIN = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("values", "mask", "masked"),
    [
        (pa.array(["ann", None]), Mask(MaskMethod.NULL), [None, None]),
        (pa.array(["ann", None]), Mask(MaskMethod.REDACT, text="x"), ["x", "x"]),
        (pa.array([1, None]), Mask(MaskMethod.REDACT, text="x"), [None, None]),
        (pa.array([7, None]), Mask(MaskMethod.HASH, key="customer"), [HASH("7"), None]),
        (pa.array(["Łódź", "ab", None]), _generalise(Granularity.PREFIX, 3), ["Łód", "ab", None]),
        (pa.array([-1, 0, 99, 100, None]), _generalise(Granularity.RANGE, 100), [-100, 0, 0, 100, None]),
        (pa.array([-0.5, 2.0**63, float("nan")]), _generalise(Granularity.RANGE, 10), [-10, None, None]),
        (pa.array([Decimal("-0.01"), Decimal("19.99")]), _generalise(Granularity.RANGE, 10), [-10, 10]),
        (pa.array([-128], pa.int8()), _generalise(Granularity.RANGE, 1000), [-1000]),
        (pa.array([date(1969, 12, 31)]), _generalise(Granularity.MONTH), [date(1969, 12, 1)]),
        (pa.array([date(2026, 12, 31)]), _generalise(Granularity.YEAR), [date(2026, 1, 1)]),
        (
            pa.array([datetime(2026, 3, 1, 1, tzinfo=BERLIN)], pa.timestamp("us", "Europe/Berlin")),
            _generalise(Granularity.MONTH),
            [datetime(2026, 2, 1, tzinfo=UTC)],
        ),
    ],
)
def test_masks_of_each_type(values: pa.Array, mask: Mask, masked: list[Any]) -> None:
    assert mask_array(values, mask, find_test_key).to_pylist() == masked


def test_a_mask_of_another_type_is_refused_without_values() -> None:
    with pytest.raises(InvalidDocument, match="the type string cannot be generalised to month"):
        mask_array(pa.array(["ann"]), _generalise(Granularity.MONTH), find_test_key)


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=20)), max_size=30))
def test_hashes_and_tokens_of_an_array_are_those_of_its_values(values: list[str | None]) -> None:
    key = find_test_key("customer")
    array = pa.array(values, pa.string())
    hashes = mask_array(array, Mask(MaskMethod.HASH, key="customer"), find_test_key).to_pylist()
    tokens = mask_array(array, Mask(MaskMethod.TOKENISE, key="customer"), find_test_key).to_pylist()
    assert hashes == [None if value is None else HASH(value) for value in values]
    assert tokens == [None if value is None else tokeniser(key)(value) for value in values]
    assert [None if token is None else detokenise(token, key) for token in tokens] == values
