"""Values as JSON sees them, frozen inside the model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.contracts.comparing import as_json
from tests.strategies import json_values
from treaty.contracts.values import FrozenMap, abbreviate, canonical_json, freeze, json_equal, thaw

SAME = [(1, 1.0), (0.0, -0.0), ("a", "a"), (None, None), ([1, {"a": 2}], (1.0, FrozenMap({"a": 2}))), ({}, FrozenMap())]
DIFFERENT = [
    (1, True),
    (0, False),
    (1, "1"),
    (None, False),
    (None, 0),
    ("", None),
    ([], {}),
    ([1], [1, 1]),
    ({"a": 1}, {}),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_values_that_are_equal_in_json_are_equal(one: Any, other: Any) -> None:
    assert json_equal(one, other)
    assert json_equal(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_that_differ_in_json_differ(one: Any, other: Any) -> None:
    assert not json_equal(one, other)
    assert not json_equal([one], [other])
    assert not json_equal({"a": one}, {"a": other})


@given(json_values())
def test_a_value_thaws_as_it_was_frozen(value: Any) -> None:
    frozen = freeze(value)

    assert as_json(thaw(frozen)) == as_json(value)
    assert json_equal(frozen, value)
    assert hash(frozen) == hash(freeze(value))


@given(json_values(), json_values())
def test_equal_values_have_one_canonical_text(one: Any, other: Any) -> None:
    assert canonical_json(freeze(one)) == canonical_json(one)
    if as_json(one) == as_json(other):
        assert canonical_json(one) == canonical_json(other)


def test_a_frozen_map_is_equal_whatever_the_order_of_its_keys() -> None:
    one, other = FrozenMap({"a": 1, "b": [2]}), FrozenMap({"b": [2], "a": 1})

    assert one == other
    assert hash(one) == hash(other)
    assert {one: "found"}[other] == "found"
    assert FrozenMap({"a": 1}) != FrozenMap({"a": True})
    assert FrozenMap({"a": 1}) != {"a": 1}


def test_a_frozen_map_cannot_be_changed() -> None:
    frozen = FrozenMap({"a": {"b": 1}})

    with pytest.raises(TypeError):
        frozen["a"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        frozen["a"]["b"] = 2


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (5, "5"), (None, "null"), ({"a": [1]}, '{"a": [1]}'), ("x" * 100, "x" * 59 + "…")],
)
def test_a_long_value_is_abbreviated(value: Any, text: str) -> None:
    assert abbreviate(value) == text
