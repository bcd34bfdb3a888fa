"""Schema objects and fields, nested and with options that belong to their types."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.contracts.strategies.parts import authoritative_definitions, custom_properties, tags
from tests.contracts.strategies.quality import quality_rules
from tests.contracts.strategies.values import (
    Document,
    dates,
    few,
    identifiers,
    json_values,
    mapping,
    names,
    numbers,
    texts,
    words,
)
from tests.contracts.strategies.versions import LOGICAL_TYPES, V3_0, V3_1, V3_2, since

DEEPEST = 2

PATTERNS = ("^[A-Z]{2}$", r"\d+", "a|b", r"^[^@\s]+@[^@\s]+$", r"\p{L}+", "(?i)yes", "")
PHYSICAL_TYPES = ("varchar(20)", "BIGINT", "decimal(10,2)", "double", "timestamp_ntz", "json", "geometry")
INTEGER_FORMATS = ("i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128")


@cache
def references(version: str) -> SearchStrategy[str]:
    """References to a field of some object, short or full; to a nested one since 3.2."""
    nested = ("customers.address.city",) if version == V3_2 else ()
    return st.sampled_from(("orders.id", "schema/orders/properties/id", *nested))


@cache
def enum_values() -> SearchStrategy[list[Document]]:
    """The values a field may have, each with what it means."""
    optional = {"label": texts(), "description": texts(), "id": identifiers(), "tags": tags()}
    plain = st.one_of(st.integers(-9, 9), words())
    return st.lists(mapping({"value": plain}, optional), min_size=1, max_size=4, unique_by=lambda one: one["value"])


def logical_type_options(version: str, logical_type: str) -> SearchStrategy[Document]:
    """Options that belong to one logical type."""
    return _options(version).get(logical_type, st.just({}))


@cache
def _options(version: str) -> dict[str, SearchStrategy[Document]]:
    sizes, days = st.integers(0, 99), dates()
    flag = version == V3_0  # it says exclusiveMaximum: true beside a maximum
    steps = st.sampled_from((1, 0.01, 5))
    numeric: dict[str, SearchStrategy[Any]] = {"minimum": numbers(), "maximum": numbers(), "multipleOf": steps}
    formats = st.sampled_from(("yyyy-MM-dd", "HH:mm:ss"))
    times: dict[str, SearchStrategy[Any]] = {"minimum": days, "maximum": days, "format": formats}
    for name in ("exclusiveMinimum", "exclusiveMaximum"):
        numeric[name] = st.booleans() if flag else numbers()
        times[name] = st.booleans() if flag else days
    zoned = {**times, "timezone": st.booleans(), "defaultTimezone": st.sampled_from(("Etc/UTC", "Europe/Berlin"))}
    lengths = {"minLength": sizes, "maxLength": sizes, "format": st.sampled_from(("email", "uuid", "größe"))}
    required = st.lists(words(), min_size=1, max_size=2, unique=True)
    return {
        "string": mapping({}, {**lengths, "pattern": st.sampled_from(PATTERNS)}),
        "date": mapping({}, times),
        "timestamp": mapping({}, zoned),
        "time": mapping({}, zoned),
        "integer": mapping({}, {**numeric, "format": st.sampled_from(INTEGER_FORMATS)}),
        "number": mapping({}, {**numeric, "format": st.sampled_from(("f32", "f64"))}),
        "object": mapping({}, {"minProperties": sizes, "maxProperties": sizes, "required": required}),
        "array": mapping({}, {"minItems": sizes, "maxItems": sizes, "uniqueItems": st.booleans()}),
        "vector": mapping(
            {"dimensions": st.integers(1, 99)},
            {"elementType": st.sampled_from(("float32", "int8")), "normalized": st.booleans()},
        ),
    }


@cache
def field_keys(version: str) -> dict[str, SearchStrategy[Any]]:
    """What a field may say of itself beside its name and type."""
    return {
        **{name: texts() for name in ("businessName", "physicalName", "description", "classification")},
        **{name: st.booleans() for name in ("required", "unique", "primaryKey", "partitioned", "criticalDataElement")},
        **{name: st.integers(-1, 3) for name in ("primaryKeyPosition", "partitionKeyPosition")},
        "physicalType": st.sampled_from(PHYSICAL_TYPES),
        "transformLogic": texts(),
        "transformSourceObjects": few(texts()),
        "examples": few(json_values()),
        "tags": tags(),
        "quality": quality_rules(version),
        "customProperties": custom_properties(version),
        "authoritativeDefinitions": authoritative_definitions(version),
        **since(version, V3_1, id=identifiers(), relationships=few(property_relationships(version))),
        **since(
            version,
            V3_2,
            enum=enum_values(),
            deprecated=st.booleans(),
            semanticType=st.sampled_from(("column", "measure", "dimension")),
            synonyms=few(mapping({"synonym": words()}, {"locale": texts(), "source": texts()})),
        ),
    }


@cache
def property_relationships(version: str) -> SearchStrategy[Document]:
    """What a field refers to."""
    targets = st.one_of(references(version), st.lists(references(version), min_size=1, max_size=2))
    optional = {"type": st.just("foreignKey"), "customProperties": custom_properties(version)}
    return mapping({"to": targets}, optional)


@cache
def object_relationships(version: str) -> SearchStrategy[Document]:
    """What an object refers to."""
    several = st.lists(references(version), min_size=1, max_size=2)
    optional = {"type": st.just("foreignKey"), "customProperties": custom_properties(version)}
    return st.one_of(
        mapping({"from": references(version), "to": references(version)}, optional),
        mapping({"from": several, "to": several}, optional),
    )


PLAIN_FIELD_KEYS: dict[str, SearchStrategy[Any]] = {
    "unit": st.sampled_from(("EUR", "kg", "s", "Größe")),
    "default": json_values(),
    "semantic_type": words(),
    "time_zone": st.sampled_from(("Etc/UTC", "Europe/Berlin")),
    "pii": st.booleans(),
}
"""Treaty's own keys on a field, authored plainly."""


@st.composite
def _element(draw: DrawFn, version: str, depth: int, authored: bool, named: bool) -> Document:
    """A field, an array's element, or a map's key or value."""
    keys = {**field_keys(version), **(PLAIN_FIELD_KEYS if authored else {})}
    element = draw(mapping({}, keys, most=4))
    if named:
        element = {"name": draw(names())} | element
    for entry in element.get("customProperties", ()):
        if entry.get("property") in element.keys() & PLAIN_FIELD_KEYS.keys():
            entry["property"] = "somebodyElses"
    untyped = version != V3_2 and draw(st.integers(0, 9)) == 9  # the packaged schema of 3.2 wrongly asks such for a map
    if untyped:
        return element | _inside(
            draw, draw(st.sampled_from(("", "object", "array"))) if depth else "", version, depth - 1, authored
        )
    scalar = [name for name in LOGICAL_TYPES[version] if name not in ("object", "array", "map")]
    element["logicalType"] = draw(st.sampled_from(LOGICAL_TYPES[version] if depth else scalar))
    if element["logicalType"] == "vector" or draw(st.booleans()):
        element["logicalTypeOptions"] = draw(logical_type_options(version, element["logicalType"]))
    return element | _inside(draw, element["logicalType"], version, depth - 1, authored)


def _inside(draw: DrawFn, logical_type: str, version: str, depth: int, authored: bool) -> Document:
    if logical_type == "object":
        return {"properties": draw(fields(version, depth, authored, max_size=2))}
    if logical_type == "array" and draw(st.booleans()):
        return {"items": draw(_element(version, depth, authored, False))}
    if logical_type == "map":
        return {"map": {part: draw(_element(version, depth, authored, False)) for part in ("key", "value")}}
    return {}


@cache
def fields(version: str, depth: int = DEEPEST, authored: bool = False, max_size: int = 3) -> SearchStrategy[list[Any]]:
    """Fields of different names."""
    return st.lists(
        _element(version, depth, authored, True), max_size=max_size, unique_by=lambda field: str(field["name"])
    )


@cache
def objects(version: str, authored: bool = False) -> SearchStrategy[list[Any]]:
    """Schema objects of different names."""
    optional = {
        **{name: texts() for name in ("physicalName", "physicalType", "description", "businessName")},
        "dataGranularityDescription": texts(),
        "logicalType": st.just("object"),
        "properties": fields(version, authored=authored),
        "quality": quality_rules(version),
        "tags": tags(),
        "customProperties": custom_properties(version),
        "authoritativeDefinitions": authoritative_definitions(version),
        **since(version, V3_1, id=identifiers(), relationships=few(object_relationships(version))),
        **since(version, V3_2, deprecated=st.booleans(), context=texts()),
    }
    with_fields = mapping({"name": names(), "properties": fields(version, authored=authored)}, optional)
    return st.lists(
        st.one_of(with_fields, mapping({"name": names()}, optional)),
        max_size=2,
        unique_by=lambda item: str(item["name"]),
    )
