"""Broken schemas of every format get a clear error, never a stack trace."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import contract
from treaty.errors import TreatyError
from treaty.formats import get_format

FIELDS = [
    {"name": "id", "logicalType": "string", "primaryKey": True, "description": "Which one."},
    {"name": "total", "logicalType": "number", "physicalType": "decimal(10,2)", "logicalTypeOptions": {"minimum": 0}},
    {"name": "state", "logicalType": "string", "enum": [{"value": "A"}, {"value": "B"}], "default": "A"},
    {"name": "lines", "logicalType": "array", "items": {"logicalType": "object", "properties": [
        {"name": "sku", "logicalType": "string"}]}},
    {"name": "labels", "logicalType": "map", "map": {
        "key": {"logicalType": "string"}, "value": {"logicalType": "date"}}},
]  # fmt: skip
JUNK: list[Any] = [
    *(None, True, 0, -1, 1.5, "", "x", "#/a", "null", "array", "record"),
    *([], [1], [None], ["null"], {}, {"a": 1}, {"type": ["a"]}, {"$ref": "#"}, {"type": "record"}, {"treaty": 3}),
]


@pytest.mark.parametrize("name", ["avro", "json-schema", "openapi", "asyncapi", "spark", "dbt"])
def test_a_tree_with_strange_parts_is_read_or_refused(name: str) -> None:
    form = get_format(name)
    whole = yaml.safe_load(form.write(contract(FIELDS)).text)
    places = _places(whole)

    @settings(max_examples=80)
    @given(st.lists(st.tuples(st.sampled_from(places), st.sampled_from(JUNK)), min_size=1, max_size=3))
    def law(edits: list[tuple[tuple[Any, ...], Any]]) -> None:
        broken = json.loads(json.dumps(whole))
        for place, junk in edits:
            _put(broken, place, junk)
        with suppress(TreatyError):
            form.read(json.dumps(broken), name="x.json")

    law()


@pytest.mark.parametrize("name", ["sql", "protobuf"])
def test_a_text_with_holes_is_read_or_refused(name: str) -> None:
    form = get_format(name)
    text = form.write(contract(FIELDS)).text

    @settings(max_examples=40)
    @given(st.integers(0, len(text)), st.integers(0, 30), st.sampled_from(["", "(", ")", "{", "}", "'", ";", ",", "x"]))
    def law(start: int, length: int, put: str) -> None:
        with suppress(TreatyError):
            form.read(text[:start] + put + text[start + length :], name="x")

    law()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("avro", "[" * 5_000),
        ("json-schema", '{"properties":' * 5_000),
        ("asyncapi", '{"asyncapi":"3.0.0","channels":' * 5_000),
        ("openapi", '{"openapi":"3.1.0","paths":' * 5_000),
        ("protobuf", "message A {" * 5_000),
        ("sql", "CREATE TABLE t (a " + "ARRAY<" * 5_000),
        ("dbt", "models:\n" + "[" * 5_000),
        ("spark", '{"type":"struct","fields":' * 5_000),
    ],
)
def test_a_bottomless_text_is_refused(name: str, text: str) -> None:
    with pytest.raises(TreatyError):
        get_format(name).read(text, name="x")


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if path else []
    for key, part in inner:
        found += _places(part, (*path, key))
    return found


def _put(value: Any, path: tuple[Any, ...], junk: Any) -> None:
    """Replace a part; a place that no longer exists is left alone."""
    for step in path[:-1]:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(value, dict) or (isinstance(value, list) and isinstance(path[-1], int) and path[-1] < len(value)):
        value[path[-1]] = deepcopy(junk)  # a later edit may go inside it
