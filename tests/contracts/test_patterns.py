"""Patterns are RE2 syntax, wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import document
from treaty.contracts import contract_from, load
from treaty.contracts.patterns import PatternCheck
from treaty.errors import InvalidDocument


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "a", "^[A-Z]{2}$", r"^\d{4}-\d{2}$", r"\p{L}+", "(?i)yes", "(?P<year>[0-9]+)", "(x+x+)+y", "größe|日本"),
        *(r"^[\p{L} ]{1,50}$", r"^\p{L}[\p{L}\p{M}' -]{0,99}$", "^.{1,1000}$"),
    ],
)
def test_a_pattern_in_re2_syntax_is_valid(pattern: str) -> None:
    assert PatternCheck().problem(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(?=a)b", id="lookahead"),
        pytest.param("(?!a)b", id="negative lookahead"),
        pytest.param("(?<=a)b", id="lookbehind"),
        pytest.param("(?<!a)b", id="negative lookbehind"),
        pytest.param(r"(a)\1", id="backreference"),
        pytest.param(r"(?P<x>a)(?P=x)", id="named backreference"),
        pytest.param("(?>a+)b", id="atomic group"),
        pytest.param("a++", id="possessive"),
        pytest.param("(", id="open group"),
        pytest.param("[a", id="open class"),
        pytest.param("*a", id="nothing to repeat"),
        pytest.param("a{2,1}", id="bounds the wrong way round"),
        pytest.param("\\", id="a lone backslash"),
        pytest.param("a{1001}", id="more repetitions than RE2 takes"),
        pytest.param("((a{100}){100}){100}", id="repetitions of repetitions"),
        pytest.param(r"\p{L}{1000}{1000}", id="a program too large"),
        pytest.param("a" * 1_001, id="longer than anyone writes"),
        pytest.param("a" * 1_000_000, id="a million characters"),
        pytest.param("(" * 1_000, id="a thousand open groups"),
    ],
)
def test_a_pattern_outside_re2_syntax_has_a_message(pattern: str) -> None:
    problem = PatternCheck().problem(pattern)

    assert problem
    assert len(problem) < 2_000


def _text(**keys: Any) -> dict[str, Any]:
    return {"name": "a", "logicalType": "string"} | keys


BAD: dict[str, Any] = {"pattern": "(?=a)b"}
WHERE: dict[str, tuple[dict[str, Any], str]] = {
    "a field": (
        _text(logicalTypeOptions=BAD),
        "schema[0].properties[0].logicalTypeOptions.pattern",
    ),
    "a field of an object": (
        {"name": "a", "logicalType": "object", "properties": [_text(logicalTypeOptions=BAD)]},
        "schema[0].properties[0].properties[0].logicalTypeOptions.pattern",
    ),
    "the elements of an array": (
        {"name": "a", "logicalType": "array", "items": {"logicalType": "string", "logicalTypeOptions": BAD}},
        "schema[0].properties[0].items.logicalTypeOptions.pattern",
    ),
    "the keys of a map": (
        {
            "name": "a",
            "logicalType": "map",
            "map": {"key": {"logicalType": "string", "logicalTypeOptions": BAD}, "value": {"logicalType": "string"}},
        },
        "schema[0].properties[0].map.key.logicalTypeOptions.pattern",
    ),
    "a quality rule": (
        _text(quality=[{"type": "library", "metric": "invalidValues", "mustBe": 0, "arguments": BAD}]),
        "schema[0].properties[0].quality[0].arguments.pattern",
    ),
}


@pytest.mark.parametrize(("field", "where"), WHERE.values(), ids=WHERE)
def test_a_pattern_outside_re2_syntax_is_refused_everywhere(field: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        contract_from(document([field]))

    (finding,) = caught.value.findings
    assert "'(?=a)b' is invalid" in finding.message
    assert where in finding.message
    assert finding.hint == "write it in RE2 syntax"


def test_a_bad_pattern_points_to_its_line() -> None:
    text = """\
apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
schema:
- name: orders
  properties:
  - name: country
    logicalType: string
    logicalTypeOptions:
      minLength: 2
      pattern: (?=a)b
"""
    with pytest.raises(InvalidDocument, match=r"^orders\.yaml:12: the pattern"):
        load(text, "orders.yaml")


def test_a_long_pattern_is_not_repeated_in_full() -> None:
    with pytest.raises(InvalidDocument) as caught:
        contract_from(document([_text(logicalTypeOptions={"pattern": "a" * 100_000})]))

    assert len(str(caught.value)) < 2_000


def test_bad_patterns_are_named_from_top_to_bottom() -> None:
    columns = [_text(name=f"f{number}", logicalTypeOptions=BAD) for number in range(3)]
    with pytest.raises(InvalidDocument) as caught:
        contract_from(document([*columns]))

    places = [finding.message.rpartition(" at ")[2] for finding in caught.value.findings]
    assert places == [f"schema[0].properties[{number}].logicalTypeOptions.pattern" for number in range(3)]
