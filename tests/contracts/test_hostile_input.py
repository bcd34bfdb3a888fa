"""Hostile and broken documents are refused with one clear error, quickly."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from tests.contracts import hostile
from tests.contracts.hostile import HEAD, Hostile, odcs_json
from treaty.contracts import contract_from, load
from treaty.contracts.text import Limits, read_document
from treaty.errors import InvalidDocument

pytestmark = pytest.mark.usefixtures("no_stall")

LONGEST_MESSAGE = 5_000


def _refused(content: str | bytes) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        load(content, "orders.yaml")
    return caught.value


EVERY_ONE = [pytest.param(case, id=f"{kind}: {case.name}") for kind, all_ in hostile.EVERY_ONE.items() for case in all_]


@pytest.mark.parametrize("case", EVERY_ONE)
def test_a_hostile_document_is_refused_with_one_clear_error(case: Hostile) -> None:
    error = _refused(case.content)

    assert case.says in str(error)
    assert str(error).startswith("orders.yaml:")
    assert len(error.findings) == 1
    assert len(str(error)) < LONGEST_MESSAGE


@pytest.mark.parametrize("case", EVERY_ONE)
def test_a_refusal_names_the_line_that_caused_it(case: Hostile) -> None:
    error = _refused(case.content)

    place = "orders.yaml" if case.line is None else f"orders.yaml:{case.line}"
    assert str(error.findings[0].place) == place
    assert str(error).startswith(f"{place}: ")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in hostile.STALLING])
def test_refusing_is_fast(case: Hostile) -> None:
    error = _refused(case.content)

    assert case.says in str(error)
    assert len(str(error)) < LONGEST_MESSAGE


def test_valid_patterns_are_checked_fast() -> None:
    options = ({"pattern": rf"{number}(\p{{L}}|\p{{N}}){{10}}"} for number in range(3_000))
    columns = [{"name": "f", "logicalType": "string", "logicalTypeOptions": one} for one in options]
    with suppress(InvalidDocument):
        load(odcs_json(schema=[{"name": "orders", "properties": columns}]))


def test_a_large_key_of_the_short_form_is_read_fast() -> None:
    names = [f"field_{number}" for number in range(40_000)]
    fields = [{"name": name, "type": "string"} for name in names]
    document = {"dataset_id": "orders", "version": "1.0.0", "owners": [], "fields": fields, "primary_key": names}

    assert contract_from(document).schema[0].primary_key == tuple(names)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            json.dumps({"dataset_id": "x" * 500_000, "version": "1.0.0", "owners": [], "fields": []}), id="id"
        ),
        pytest.param(odcs_json(**{"k" * 500_000: 1}), id="key"),
        pytest.param(odcs_json(domain=["x" * 500_000]), id="value"),
        pytest.param(f"{HEAD}? {'k' * 500_000}\n: 1\n? {'k' * 500_000}\n: 1\n", id="key given twice"),
        pytest.param(f"{HEAD}domain: !{'t' * 500_000} x\n", id="tag"),
        pytest.param(f"{HEAD}domain: *{'a' * 500_000}\n", id="alias"),
        pytest.param('{"a": "' + "x" * 500_000 + '\\ud800"}', id="lone surrogate"),
    ],
)
def test_a_message_is_short_however_long_its_subject(content: str) -> None:
    assert len(str(_refused(content))) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("".join(f"{' ' * level}a:\n" for level in range(64)), id="yaml, block"),
        pytest.param("a: " + "[" * 63 + "]" * 63, id="yaml, flow"),
        pytest.param('{"a":' * 64 + "1" + "}" * 64, id="json"),
        pytest.param('{"a": "' + "[" * 100 + '"}', id="json, brackets in a text"),
        pytest.param('{"a": "' + '\\"[' * 100 + '"}', id="json, quotes and brackets in a text"),
        pytest.param("a: '" + "[" * 100 + "'", id="yaml, brackets in a text"),
        pytest.param("{a: '" + "[" * 100 + "'}", id="yaml, flow, brackets in a text"),
        pytest.param("{a: 1} # " + "[" * 100, id="yaml, flow, brackets in a comment"),
    ],
)
def test_nesting_up_to_64_is_read(content: str) -> None:
    assert "a" in read_document(content).data


@pytest.mark.parametrize(
    ("content", "limits"),
    [
        pytest.param("a: {b: {c: 1}}", Limits(depth=2), id="depth, yaml"),
        pytest.param('{"a": {"b": {"c": 1}}}', Limits(depth=2), id="depth, json"),
        pytest.param("a: &a 1\nb: *a\nc: *a", Limits(aliases=1), id="aliases"),
        pytest.param("a: [1, 2, 3]", Limits(nodes=3), id="values"),
        pytest.param("a: 12345", Limits(bytes=7), id="bytes"),
    ],
)
def test_limits_are_settings(content: str, limits: Limits) -> None:
    assert read_document(content).data
    with pytest.raises(InvalidDocument):
        read_document(content, "orders.yaml", limits)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xef\xbb\xbfa: 1\n", id="byte order mark, bytes"),
        pytest.param("\ufeffa: 1\n", id="byte order mark, text"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', id="byte order mark, json"),
        pytest.param("a: 1\r\n", id="carriage returns"),
        pytest.param('{"a": 1}\r\n', id="carriage returns, json"),
        pytest.param("---\na: 1\n", id="document mark"),
        pytest.param("---\na: 1\n...\n", id="end mark"),
        pytest.param("%YAML 1.2\n---\na: 1\n", id="directive"),
        pytest.param("# a comment\n\na: 1 # another\n", id="comments"),
        pytest.param("  {a: 1}", id="white space before flow"),
        pytest.param('\n\n{"a": 1}', id="white space before json"),
        pytest.param("{a: 1,}", id="flow that is not json"),
        pytest.param("!!map {!!str a: !!int 1}", id="plain tags"),
    ],
)
def test_harmless_variations_of_the_text_are_accepted(content: str | bytes) -> None:
    assert read_document(content).data == {"a": 1}


def test_a_pair_of_escaped_surrogates_is_one_character() -> None:
    assert read_document('{"a": "\\ud83d\\ude00"}').data == {"a": "😀"}


@pytest.mark.parametrize(
    "part",
    [
        pytest.param({"customProperties": [{"property": ["a"], "value": 1}]}, id="custom property named by a list"),
        pytest.param(
            {"customProperties": [{"property": {"a": 1}, "value": 1}]}, id="custom property named by a mapping"
        ),
        pytest.param({"customProperties": "a", "tier": "product"}, id="custom properties that are a text"),
        pytest.param({"customProperties": ["a"], "tier": "product"}, id="custom properties that are texts"),
        pytest.param({"schema": "a"}, id="schema that is a text"),
        pytest.param({"schema": ["a", None, 1]}, id="objects that are texts"),
        pytest.param({"schema": [{"name": "a", "properties": {"b": 1}}]}, id="fields that are a mapping"),
        pytest.param({"schema": [{"name": "a", "properties": [["b"]]}]}, id="fields that are lists"),
        pytest.param({"schema": [{"name": ["a"]}]}, id="object named by a list"),
        pytest.param(
            {"schema": [{"name": "a", "properties": [{"name": "b", "items": [1]}]}]}, id="items that are a list"
        ),
        pytest.param({"schema": [{"name": "a", "properties": [{"name": "b", "map": [1]}]}]}, id="map that is a list"),
        pytest.param(
            {
                "schema": [
                    {"name": "a", "properties": [{"name": "b", "unit": 5, "customProperties": [{"property": []}]}]}
                ]
            },
            id="field's custom property named by a list",
        ),
        pytest.param({"apiVersion": ["v3.2.0"]}, id="version of the standard that is a list"),
        pytest.param({"apiVersion": None}, id="version of the standard that is nothing"),
        pytest.param({"owners": {"team": "a"}}, id="owners that are a mapping"),
        pytest.param({"team": [None]}, id="null in a team"),
        pytest.param({"slaProperties": [[]]}, id="service level that is a list"),
    ],
)
def test_parts_of_another_shape_are_refused(part: dict[str, Any]) -> None:
    error = _refused(odcs_json(**part))

    assert error.findings


@pytest.mark.parametrize(
    "part",
    [
        pytest.param({"fields": "a"}, id="fields that are a text"),
        pytest.param({"fields": ["a"]}, id="fields that are texts"),
        pytest.param({"fields": [{"name": ["a"], "type": "string"}]}, id="field named by a list"),
        pytest.param({"fields": [{"name": "a", "type": ["string"]}]}, id="type that is a list"),
        pytest.param({"fields": [{"name": "a", "type": "string", "enum": [["b"]]}]}, id="enum of lists"),
        pytest.param({"primary_key": [["a"]]}, id="key of lists"),
        pytest.param({"owners": "a"}, id="owners that are a text"),
        pytest.param({"owners": [{"team": " "}]}, id="owner without a name"),
        pytest.param({"freshness_sla": 5}, id="freshness that is a number"),
        pytest.param({"deprecation": "soon"}, id="deprecation that is a text"),
        pytest.param({"deprecation_uri": "a", "deprecation": {"migration_guide": ["a"]}}, id="guide that is a list"),
        pytest.param({"status": ["draft"]}, id="status that is a list"),
    ],
)
def test_parts_of_another_shape_are_refused_in_the_short_form(part: dict[str, Any]) -> None:
    fields = [{"name": "a", "type": "string"}]
    document = {"dataset_id": "orders", "version": "1.0.0", "owners": [], "fields": fields}

    assert _refused(json.dumps(document | part)).findings
