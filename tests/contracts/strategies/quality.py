"""Quality rules of every type."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.contracts.strategies.parts import authoritative_definitions, custom_properties, tags
from tests.contracts.strategies.values import Document, few, identifiers, json_values, mapping, numbers, texts, words
from tests.contracts.strategies.versions import V3_0, V3_1, open_in_3_0, since


@st.composite
def _operator(draw: DrawFn) -> Document:
    """One comparison of a quality rule."""
    name = draw(st.sampled_from(("mustBe", "mustNotBe", "mustBeGreaterThan", "mustBeGreaterOrEqualTo")))
    if draw(st.booleans()):
        name = draw(st.sampled_from(("mustBeLessThan", "mustBeLessOrEqualTo", "mustBeBetween", "mustNotBeBetween")))
    if name.endswith("Between"):
        return {name: draw(st.lists(st.integers(-9, 9), min_size=2, max_size=2, unique=True))}
    return {name: draw(json_values() if name in ("mustBe", "mustNotBe") else numbers())}


@cache
def quality_rules(version: str) -> SearchStrategy[list[Document]]:
    """Quality rules of every type."""
    noted = {
        **{
            name: texts()
            for name in ("name", "description", "severity", "businessImpact", "unit", "schedule", "method")
        },
        "dimension": st.sampled_from(("accuracy", "completeness", "timeliness", "uniqueness")),
        "tags": tags(),
        "customProperties": custom_properties(version),
        "authoritativeDefinitions": authoritative_definitions(version),
        **since(version, V3_1, id=identifiers()),
        **open_in_3_0(version),
    }

    def kind(name: str) -> dict[str, SearchStrategy[Any]]:
        return {"type": st.just(name)}

    def compared(rule: SearchStrategy[Document]) -> SearchStrategy[Document]:
        return st.builds(lambda one, operator: one | operator, rule, _operator())

    code = st.one_of(texts(), st.dictionaries(texts(), json_values(), max_size=2))
    sql = mapping({**kind("sql"), "query": words()}, noted)
    if version == V3_0:
        library = mapping({"rule": words()}, {**noted, **kind("library")})
        rules = [library, compared(library), sql, compared(sql)]
    else:
        metrics = st.sampled_from(("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount"))
        arguments = st.dictionaries(words(), json_values(), max_size=2)
        measured = mapping({"metric": metrics}, {**noted, **kind("library"), "arguments": arguments})
        rules = [compared(measured), compared(mapping({**kind("library"), "metric": metrics}, noted)), compared(sql)]
    rules += [
        mapping(kind("text"), noted),
        mapping({**kind("custom"), "engine": words(), "implementation": code}, noted),
    ]
    return few(st.one_of(rules))
