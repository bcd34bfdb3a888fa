"""JSON Schema types and keywords and their equivalents in a contract."""

from __future__ import annotations

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.formats.notes import NOTE_KEY


def _field(logical: str | None, physical: str | None = None, **options: object) -> Field:
    return Field(logical_type=logical, physical_type=physical, options=FrozenMap(options) if options else None)


TYPES: dict[tuple[str, str | None], Field] = {
    ("string", None): _field("string"),
    ("string", "date"): _field("date"),
    ("string", "time"): _field("time"),
    ("string", "time-local"): _field("time", timezone=False),
    ("string", "date-time"): _field("timestamp"),
    ("string", "date-time-local"): _field("timestamp", timezone=False),
    ("boolean", None): _field("boolean"),
    ("integer", None): _field("integer"),
    **{("integer", f"int{bits}"): _field("integer", format=f"i{bits}") for bits in (8, 16, 64, 128)},
    **{("integer", f"uint{bits}"): _field("integer", format=f"u{bits}") for bits in (8, 16, 32, 64, 128)},
    ("integer", "int32"): _field("integer"),
    ("number", None): _field("number"),
    ("number", "float"): _field("number", format="f32"),
    ("number", "double"): _field("number"),
    ("number", "decimal"): _field("number", "decimal"),
}
"""By type and format; other formats are kept as they are."""
BINARY = _field(None, "binary")
ANY = _field("object", "json")

_RANGE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
OPTION_KEYWORDS: dict[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": _RANGE,
    "number": _RANGE,
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}
"""Keywords that become options of a logical type."""

LOST_KEYWORDS: dict[str, str] = {
    **dict.fromkeys(("if", "then", "else"), "contracts have no conditions between fields"),
    **dict.fromkeys(
        ("dependentRequired", "dependentSchemas", "dependencies"), "contracts have no conditions between fields"
    ),
    "not": "a contract states what is allowed, not what is forbidden",
    **dict.fromkeys(("contains", "minContains", "maxContains"), "all elements of an array have the same terms"),
    **dict.fromkeys(("prefixItems", "additionalItems"), "all elements of an array have the same terms"),
    **dict.fromkeys(("patternProperties", "unevaluatedProperties", "unevaluatedItems"), "a contract names its fields"),
    "$dynamicRef": "its target depends on the referring schema",
}
"""Keywords without an equivalent in a contract, and why."""

KNOWN_KEYWORDS = frozenset(
    {
        *("$schema", "$id", "$ref", "$defs", "definitions", "$anchor", "$comment", "type", "format", "title"),
        *("description", "properties", "required", "items", "additionalProperties", "propertyNames", "enum", "const"),
        *("default", "examples", "deprecated", "allOf", "anyOf", "oneOf", "contentEncoding", NOTE_KEY, *LOST_KEYWORDS),
        *(name for names in OPTION_KEYWORDS.values() for name in names),
    }
)
"""All other keywords are custom and become custom properties."""

DIALECTS = {
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", "$defs"),
    "draft-07": ("http://json-schema.org/draft-07/schema#", "definitions"),
}
"""The URI and the key of definitions of each dialect; the first one is the default for writing."""
