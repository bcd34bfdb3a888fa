"""Profiles of events: they add up, are small, and have no values of fields."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.contracts import contract_from
from treaty.events.drift import codes, layout_of, merge_profiles, profile_rows
from treaty.events.drift.layout import MAX_FIELDS, MAX_PAIRS, FieldKind

AT = datetime(2026, 3, 2, 4, tzinfo=UTC)


def field(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "logicalType": kind, **more}


def contract(*fields: dict[str, Any]) -> Any:
    return contract_from(
        {
            "apiVersion": "v3.1.0",
            "kind": "DataContract",
            "id": "gym.changed",
            "version": "1.0.0",
            "status": "active",
            "ordering": {"key": ["id"], "sequence": "n"},
            "schema": [{"name": "changed", "properties": list(fields)}],
        }
    )


CONTRACT = contract(
    field("id", "string", required=True),
    field("n", "integer"),
    field("at", "timestamp"),
    field("state", "string", enum=[{"value": "OPEN"}, {"value": "CLOSED"}]),
    field("member", "string", classification="restricted"),
    field("price", "number"),
    field("place", "object", properties=[field("city", "string"), field("beds", "integer")]),
    field("tags", "array", items={"logicalType": "string"}),
)
LAYOUT = layout_of(CONTRACT, "at")
NAMES = st.text(st.characters(codec="utf-8"), max_size=30)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["a", "b", "c", "d"]),
            "at": st.none() | st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)),
            "state": st.none() | st.sampled_from(["OPEN", "CLOSED", "LOST"]),
            "member": st.none() | NAMES,
            "price": st.none() | st.floats() | st.decimals(allow_nan=False, allow_infinity=False, places=2),
            "place": st.none() | st.fixed_dictionaries({"city": st.none() | NAMES}),
            "tags": st.none() | st.lists(st.just("x"), max_size=60),
        }
    ),
    max_size=30,
)


def profile(rows: list[dict[str, Any]], run: int = 1) -> Any:
    return profile_rows(rows, LAYOUT, version="1.0.0", run=run, at=AT)


@settings(max_examples=30, deadline=None)
@given(ROWS, ROWS)
def test_profiles_of_parts_add_up_to_the_profile_of_all(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    merged = merge_profiles(profile(first), profile(second))
    whole = profile(first + second)

    assert merged.model_copy(update={"keys": whole.keys}) == whole


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_every_event_is_counted_once_in_each_histogram(rows: list[dict[str, Any]]) -> None:
    taken = profile(rows)

    assert all(sum(counts.values()) == len(rows) for counts in taken.histograms.values())
    assert set(taken.histograms) == ({metric.name for metric in LAYOUT.metrics} if rows else set())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (codes.number_label(codes.number_code(150)), "100 to 178"),
        (codes.number_label(codes.number_code(-0.5)), "−0.316 to −0.562"),
        (codes.number_label(codes.number_code(0)), "0"),
        (codes.number_label(codes.number_code(float("inf"))), "562,000,000,000 to 1,000,000,000,000"),
        (codes.number_label(codes.number_code(float("nan"))), "not a number"),
        (codes.offset_label(codes.offset_code(-7_200)), "−1.94 h"),
        (codes.offset_label(codes.offset_code(0)), "0 s"),
        (codes.time_of_day_label(codes.time_of_day_code(86_400 * 3 + 5_400)), "01:30"),
        (codes.text_label(codes.text_code("2026-03-01T10:00:00Z")), "timestamp in UTC, 20 to 25 characters"),
        (
            codes.text_label(codes.text_code("2026-03-01T10:00:00+01:00")),
            "timestamp with an offset, 20 to 25 characters",
        ),
        (
            codes.text_label(codes.text_code("2026-03-01 10:00:00")),
            "timestamp without a time zone, 16 to 19 characters",
        ),
        (codes.text_label(codes.text_code("C-0815")), "capital letters and digits, 6 characters"),
        (codes.text_label(codes.text_code("0815")), "digits, 4 characters"),
        (codes.text_label(codes.text_code("Early birds")), "words, 10 to 12 characters"),
        (codes.text_label(codes.text_code("")), "empty"),
        (codes.text_label(codes.text_code("—")), "other characters, 1 character"),
    ],
)
def test_codes_have_labels(code: str, expected: str) -> None:
    assert code == expected


@given(st.floats(allow_nan=False), st.sampled_from([10, 100, 1_000]))
def test_a_factor_of_ten_moves_a_number_by_four_bins(value: float, factor: int) -> None:
    low, high = 1e-3, 1e8
    before, after = codes.number_code(value), codes.number_code(value * factor)

    if low < value < high:
        assert after - before == 4 * (len(str(factor)) - 1)


def test_a_classified_field_has_counts_of_presence_only() -> None:
    taken = profile([{"member": "Ada Lovelace", "id": "a"}, {"member": None, "id": "b"}])

    assert taken.histograms["field:member"] == {-1: 1, 0: 1}
    assert next(one for one in LAYOUT.fields if one.path == "member").kind is FieldKind.PRESENCE


def test_numbers_that_count_events_or_keys_have_counts_of_presence_only() -> None:
    counted = contract(field("id", "integer", unique=True), field("n", "integer"), field("m", "integer"))

    assert [(one.path, one.kind.value) for one in layout_of(counted).fields] == [
        ("id", "presence"),
        ("n", "presence"),
        ("m", "number"),
    ]


def test_a_profile_has_no_values() -> None:
    rows = [{"id": "C-4711", "price": Decimal("1234.56"), "state": "OPEN", "place": {"city": "Springfield"}}]

    text = profile(rows).model_dump_json()

    assert not [value for value in ("4711", "1234", "OPEN", "Springfield") if value in text]


def test_nested_fields_and_unlisted_values_are_counted() -> None:
    taken = profile([{"id": "a", "state": "LOST", "place": {"city": "", "beds": 3}, "at": AT, "tags": ["x"] * 99}])

    assert taken.histograms["field:state"] == {2: 1}
    assert taken.histograms["field:place.city"] == {0: 1}
    assert taken.histograms["field:place.beds"] == {18: 1}
    assert taken.histograms["field:tags"] == {40: 1}
    assert taken.histograms["time:at"] == {8: 1}


def test_keys_and_the_span_of_event_times_are_counted() -> None:
    taken = profile([{"id": "a", "at": AT}, {"id": "a", "at": AT + timedelta(hours=21)}, {"id": "b", "at": None}])

    assert (taken.events, taken.keys, taken.rate_per_key, taken.covers_day) == (3, 2, 1.5, True)


def test_the_profile_of_a_wide_contract_is_bounded() -> None:
    listed = [{"value": f"V{number}"} for number in range(12)]
    wide = contract(
        *(field(f"e{number}", "string", enum=listed) for number in range(40)),
        *(field(f"t{number}", "string") for number in range(40)),
    )
    layout = layout_of(wide)
    rows = [
        {**{f"e{n}": f"V{(row + n) % 12}" for n in range(40)}, **{f"t{n}": "x" * (row * 7 % 300) for n in range(40)}}
        for row in range(300)
    ]

    taken = profile_rows(rows, layout, version="1.0.0", run=1, at=AT)

    assert (len(layout.fields), len(layout.metrics)) == (MAX_FIELDS, MAX_FIELDS + MAX_PAIRS)
    assert len(json.dumps(taken.model_dump(mode="json"))) < 64_000
