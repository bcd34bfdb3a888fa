"""Hypothesis strategies for JSON Schemas of many drafts' keywords, edits of them, and instances to judge them by."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2.5, -3, "", "a", "abc", "2024-01-01"])
_TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
_NUMBERS = st.sampled_from([0, 1, 2, 2.5])
_COUNTS = st.integers(0, 3)
_PATTERNS = st.sampled_from(["^a", "b$", "^[0-9]+$", "^(?!a)"])


def _schemas(inner: st.SearchStrategy[Any], *, refers: bool = True) -> st.SearchStrategy[Any]:
    """Nodes with up to four keywords of any kind."""
    named = st.dictionaries(NAMES, inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    names = st.lists(NAMES, max_size=2, unique=True)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(_TYPES) | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True),
        "enum": st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr),
        "const": SCALARS,
        "minimum": _NUMBERS,
        "maximum": _NUMBERS,
        "exclusiveMinimum": _NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": _COUNTS,
        "maxLength": _COUNTS,
        "pattern": _PATTERNS,
        "format": st.sampled_from(["date", "email", "int64"]),
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "minContains": _COUNTS,
        "minItems": _COUNTS,
        "maxItems": _COUNTS,
        "uniqueItems": st.booleans(),
        "properties": named,
        "required": names,
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(_PATTERNS, inner, max_size=2),
        "propertyNames": inner,
        "minProperties": _COUNTS,
        "maxProperties": _COUNTS,
        "dependentRequired": st.dictionaries(NAMES, names, max_size=1),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
        "unevaluatedProperties": inner,
        "not": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "if": inner,
        "then": inner,
        "else": inner,
    } | ({"$ref": st.sampled_from(["#/$defs/one", "#/$defs/tree"])} if refers else {})
    entries = st.sampled_from(sorted(keywords)).flatmap(lambda key: st.tuples(st.just(key), keywords[key]))
    return st.lists(entries, max_size=4).map(dict)


NODES = st.recursive(st.booleans() | _schemas(st.just({})), _schemas, max_leaves=6)
DEFINITIONS = st.recursive(
    st.booleans() | _schemas(st.just({}), refers=False), lambda inner: _schemas(inner, refers=False), max_leaves=6
)
"""Nodes without references, so that no definition refers to itself without end."""


def _tree(node: Any) -> dict[str, Any]:
    """A recursive definition."""
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}, "b": node}}


ROOTS = st.fixed_dictionaries(
    {
        "properties": st.dictionaries(NAMES, NODES, min_size=1, max_size=3),
        "$defs": st.fixed_dictionaries({"one": DEFINITIONS, "tree": DEFINITIONS.map(_tree)}),
    },
    optional={"type": st.just("object"), "required": st.lists(NAMES, max_size=2, unique=True)},
)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """An object schema with definitions, and with any other keyword beside its properties."""
    root: dict[str, Any] = draw(ROOTS)
    extra: dict[str, Any] = draw(_schemas(DEFINITIONS, refers=False))
    return {key: value for key, value in extra.items() if key not in ("type", "anyOf", "oneOf")} | root


@st.composite
def schema_pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema and an edited copy: a node replaced, or a keyword removed."""
    before = draw(schemas())
    after = copy.deepcopy(before)
    places = [place for place in _places(after) if place]
    place = draw(st.sampled_from(places))
    parent: Any = after
    for step in place[:-1]:
        parent = parent[step]
    if isinstance(parent, dict) and place[-1] not in ("properties", "$defs", "one", "tree") and draw(st.booleans()):
        del parent[place[-1]]
    elif isinstance(parent[place[-1]], dict | bool) and place[-1] not in ("properties", "$defs"):
        parent[place[-1]] = draw(DEFINITIONS)
    return before, after


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    places = [path]
    for key, part in inner:
        places += _places(part, (*path, key))
    return places


_VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 2.5, 3, -3, "", "a", "ab", "abc", "12", "2024-01-01"),
    *(
        [],
        [1],
        [1, 1],
        ["a", 1],
        [None],
        [[], {}],
        {},
        {"a": 1},
        {"b": "a"},
        {"a": {"b": None}},
        {"a": "", "b": 2, "d": 0},
    ),
]
INSTANCES: list[Any] = [
    {},
    *({name: value} for name in ("a", "b", "c") for value in _VALUES),
    *({"a": value, "b": other} for value in _VALUES[:13:2] for other in (None, 1, "ab", [1], {"a": 1})),
    *({"a": 1, "b": "a", "d": value} for value in (None, 1, "a")),
    *({"d": value} for value in _VALUES[::4]),
    {"a": 1, "b": 1, "c": 1, "d": 1},
]
"""Rows with the properties of the schemas and one more."""
