"""YAML reads by the core schema of YAML 1.2, as JSON does."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.strategies import json_values
from treaty.contracts import contract_from
from treaty.contracts.text import read_document, read_json
from treaty.errors import InvalidDocument

SCALARS: list[tuple[str, Any]] = [
    *((text, text) for text in ("no", "yes", "on", "off", "y", "N", "2026-01-03", "12:30", "1:30:00", "1_000", "0b11")),
    *((text, text) for text in ("0o8", "0xg", "1.2.3", "+", ".", "e5", "1e", "nan", "inf", "=", "Größe", "a b")),
    *((text, text) for text in ("010", "007", "0056500000019", "00", "-007", "+08", "00.5")),
    *((text, None) for text in ("", "~", "null", "Null", "NULL")),
    *((text, True) for text in ("true", "True", "TRUE")),
    *((text, False) for text in ("false", "False", "FALSE")),
    *(("0", 0), ("-0", 0), ("+5", 5), ("-5", -5), ("0o14", 12), ("0x1F", 31), ("9" * 30, int("9" * 30))),
    *(("1.5", 1.5), ("-1.5e-3", -0.0015), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("1E+3", 1000.0)),
    *(("'5'", "5"), ('"true"', "true"), ("'~'", "~"), ("''", ""), ("!!str 5", "5"), ("! 5", "5")),
    *(
        ("!!int 5", 5),
        ("!!int 0x1F", 31),
        ("!!float 5", 5.0),
        ("!!float 0x1F", 31.0),
        ("!!float 0o14", 12.0),
        ("!!bool true", True),
        ("!!null ~", None),
    ),
    *(("|\n  a\n  b\n", "a\nb\n"), (">-\n  a\n  b\n", "a b"), ('"a\\tb\\u00e9"', "a\tbé")),
]


@pytest.mark.parametrize(("text", "value"), SCALARS, ids=[repr(text) for text, _ in SCALARS])
def test_a_scalar_is_what_yaml_1_2_says(text: str, value: Any) -> None:
    read = read_document(f"a: {text}\n").data["a"]

    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("key", ["no", "on", "2026-01-03", "'1'", '"true"', "a b", "größe", "'<<'"])
def test_a_key_is_a_text(key: str) -> None:
    assert list(read_document(f"{key}: 1\n").data) == [key.strip("'\"")]


MERGES: dict[str, tuple[str, dict[str, Any]]] = {
    "one": ("b: {<<: *a, z: 3}", {"x": 1, "y": 2, "z": 3}),
    "own keys first": ("b: {x: 9, <<: *a}", {"x": 9, "y": 2}),
    "own keys first, even after": ("b: {<<: *a, x: 9}", {"x": 9, "y": 2}),
    "several, the first wins": ("b: {<<: [{x: 7}, *a]}", {"x": 7, "y": 2}),
    "inline": ("b: {<<: {x: 5}}", {"x": 5}),
    "of nothing": ("b: {<<: []}", {}),
}


@pytest.mark.parametrize(("line", "expected"), MERGES.values(), ids=MERGES)
def test_a_merge_key_adds_the_keys_of_another_mapping(line: str, expected: dict[str, Any]) -> None:
    assert read_document(f"a: &a {{x: 1, y: 2}}\n{line}\n").data["b"] == expected


def test_an_alias_is_the_value_it_names() -> None:
    data = read_document("a: &a [1, {b: 2}]\nc: *a\nd: &a 5\ne: *a\n").data

    assert data == {"a": [1, {"b": 2}], "c": [1, {"b": 2}], "d": 5, "e": 5}


def test_a_long_integer_reads_alike_from_yaml_and_json() -> None:
    digits = "9" * 400
    yaml, from_json = read_document(f"a: {digits}\nb: 1\n"), read_document(f'{{"a": {digits},\n "b": 1}}')

    assert yaml.data == from_json.data == {"a": int(digits), "b": 1}
    assert yaml.place(("b",)).line == from_json.place(("b",)).line == 2


def test_a_quoted_merge_key_is_a_key() -> None:
    assert read_document("a: {'<<': 1, \"b\": 2}\n").data == {"a": {"<<": 1, "b": 2}}


HEAD = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.nan, id="NaN"),
        pytest.param(math.inf, id="infinity"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param(date(2026, 1, 3), id="date"),
        pytest.param({1: "a"}, id="key that is a number"),
    ],
)
def test_data_that_json_cannot_represent_is_refused(value: Any) -> None:
    with pytest.raises(InvalidDocument):
        contract_from({**HEAD, "customProperties": [{"property": "a", "value": value}]})


def test_data_nested_without_end_is_refused() -> None:
    value: list[Any] = []
    for _ in range(5_000):
        value = [value]
    with pytest.raises(InvalidDocument):
        contract_from({**HEAD, "customProperties": [{"property": "a", "value": value}]})


@given(
    st.dictionaries(st.text(), json_values() | st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    st.booleans(),
    st.sampled_from([None, 2]),
)
@example({"a": 2**64, "b": -(2**70), "c": -0.0, "d": 1e308, "e": 5e-324}, True, None)
@example({"a": "1e999", "b": "9" * 1_000, "c": "\u2028\x7f\\ud8"}, False, None)
@example({"a": 1e300, "b": 10**320}, True, None)
def test_json_is_read_as_the_standard_library_reads_it(
    data: dict[str, Any], only_ascii: bool, indent: int | None
) -> None:
    text = json.dumps(data, ensure_ascii=only_ascii, indent=indent)
    assert repr(read_json(text).data) == repr(json.loads(text)) == repr(data)  # 1, 1.0 and true are told apart


@given(
    st.one_of(
        json_values().map(json.dumps), st.text(), st.from_regex(r"\{(\"[ab]\": ?([0-9e.+-]{1,6}|\[*|null),?)*\}?")
    )
)
@example('{"a": 1, "a": 2}')
@example('{"a": NaN}')
@example('{"a": 1e999}')
@example('{"a": ' + "9" * 250 + "e99}")
@example('{"a": "\\ud800"}')
@example("\ufeff{}")
@example('{"a":' * 200 + "1" + "}" * 200)
def test_bytes_are_read_as_their_text_is(text: str) -> None:
    def outcome(content: str | bytes) -> tuple[Any, ...]:
        try:
            read = read_json(content)
        except InvalidDocument as error:
            return str(error), [(one.message, one.place) for one in error.findings]
        return repr(read.data), [read.place((key,)) for key in read.data]

    assert outcome(text.encode("utf-8", "surrogatepass")) == outcome(text)
