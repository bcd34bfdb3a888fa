"""Text that is written reads back as the same data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.comparing import as_json
from tests.strategies import AWKWARD_TEXTS, json_values, texts
from treaty.contracts.text import read_document
from treaty.contracts.text.writer import write_json, write_yaml


@pytest.mark.parametrize("text", AWKWARD_TEXTS, ids=ascii)
def test_an_awkward_text_is_unchanged(text: str) -> None:
    data = {"value": text, "list": [text, [text]], "inside": {"value": text, "text": f"{text}\n{text}"}}

    assert read_document(write_yaml(data)).data == data
    assert read_document(write_json(data)).data == data


@pytest.mark.parametrize("text", AWKWARD_TEXTS, ids=ascii)
def test_an_awkward_key_is_unchanged(text: str) -> None:
    data = {text: 1, "inside": [{text: {text: "a"}}]}

    assert read_document(write_yaml(data)).data == data
    assert read_document(write_json(data)).data == data


@pytest.mark.parametrize(
    "value",
    [0, -1, 10**30, 1.0, -0.0, 0.1, 1e16, 1e-7, 1.5e300, 5e-324, True, False, None, [], {}, [[]], [{}], {"a": []}],
    ids=repr,
)
def test_a_value_keeps_its_kind(value: Any) -> None:
    data = {"value": value}

    for text in (write_yaml(data), write_json(data)):
        read = read_document(text).data["value"]
        assert as_json(read) == as_json(value)
        assert type(read) is type(value)


@given(st.dictionaries(texts(), json_values(max_leaves=8), min_size=1))
def test_every_json_value_survives_yaml(data: dict[str, Any]) -> None:
    assert as_json(read_document(write_yaml(data)).data) == as_json(data)


@given(st.dictionaries(texts(), json_values(max_leaves=8), min_size=1))
def test_every_json_value_survives_json(data: dict[str, Any]) -> None:
    assert as_json(read_document(write_json(data)).data) == as_json(data)


@given(st.dictionaries(texts(200), texts(400), min_size=1, max_size=2))
def test_long_texts_and_keys_read_back(data: dict[str, Any]) -> None:
    assert read_document(write_yaml(data)).data == data


@given(st.dictionaries(texts(), json_values(max_leaves=8), min_size=1))
def test_bytes_read_as_text_does(data: dict[str, Any]) -> None:
    text = write_yaml(data)

    assert as_json(read_document(text.encode()).data) == as_json(read_document(text).data)


def test_keys_stay_in_order() -> None:
    data = {"b": 1, "a": {"d": 1, "c": 2}}

    assert list(read_document(write_yaml(data)).data) == ["b", "a"]
    assert write_yaml(data) == "b: 1\na:\n  d: 1\n  c: 2\n"
    assert write_json(data) == '{\n  "b": 1,\n  "a": {\n    "d": 1,\n    "c": 2\n  }\n}\n'


def test_a_value_that_occurs_twice_is_written_out_twice() -> None:
    shared = {"team": "checkout"}

    assert "&" not in write_yaml({"a": shared, "b": shared})
    assert write_yaml({"a": shared, "b": shared}).count("team: checkout") == 2


def test_text_of_every_script_is_written_as_it_is() -> None:
    data = {"größe": "日本語"}

    assert write_yaml(data) == "größe: 日本語\n"
    assert json.loads(write_json(data)) == data
    assert "日本語" in write_json(data)
