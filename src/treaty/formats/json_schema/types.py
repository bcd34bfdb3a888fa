"""JSON Schema types and keywords and their equivalents in a contract."""

from __future__ import annotations

import re

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
    ("null", None): _field(None, "null"),
    ("number", None): _field("number"),
    ("number", "float"): _field("number", format="f32"),
    ("number", "double"): _field("number"),
    ("number", "decimal"): _field("number", "decimal"),
}
"""By type and format; other formats are kept as they are."""
BINARY = _field(None, "binary")
ANY = _field("object", "json")
UNION = re.compile(r"union<(?P<types>[a-z]+(?:,[a-z]+)+)>")
"""The physical type of a field with several types of JSON."""

_RANGE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
OPTION_KEYWORDS: dict[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": _RANGE,
    "number": _RANGE,
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}
"""Keywords that become options of a logical type."""

_CONDITION = "contracts have no conditions between fields"
_ELEMENTS = "all elements of an array have the same terms"
_NAMED_FIELDS = "a contract names its fields"
UNMODELLED_KEYWORDS: dict[str, str] = {
    **dict.fromkeys(("if", "then", "else", "dependentRequired", "dependentSchemas"), _CONDITION),
    **dict.fromkeys(("contains", "minContains", "maxContains", "prefixItems", "unevaluatedItems"), _ELEMENTS),
    **dict.fromkeys(("patternProperties", "propertyNames", "unevaluatedProperties"), _NAMED_FIELDS),
    "additionalProperties": "a contract is open or closed as a whole",
    "minProperties": _NAMED_FIELDS,
    "maxProperties": _NAMED_FIELDS,
    "not": "a contract states what is allowed, not what is forbidden",
    "allOf": "the parts contradict each other or restrict each other's fields",
    "anyOf": "contracts have no alternative structures",
    "oneOf": "contracts have no alternative structures",
    "enum": "enum values in a contract are scalars",
}
"""Why a keyword is not a term of a contract. It is kept as a foreign construct, so that a change of it is seen."""

ASSERTIONS = frozenset(
    {
        *("type", "format", "enum", "const", "required", "properties", "items", "additionalProperties", "allOf"),
        *("contentEncoding", *UNMODELLED_KEYWORDS, *(name for names in OPTION_KEYWORDS.values() for name in names)),
    }
)
"""Keywords that decide which values are valid."""
ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment", NOTE_KEY})
KNOWN_KEYWORDS = frozenset(
    {"$schema", "$id", "id", "$ref", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$recursiveAnchor"}
    | {"$vocabulary"}
    | ASSERTIONS
    | ANNOTATIONS
)
"""All other keywords are custom and become custom properties."""
UNCONSTRAINED: dict[str, object] = {
    "additionalProperties": True,
    "unevaluatedProperties": True,
    "unevaluatedItems": True,
    "items": True,
    "propertyNames": True,
    "uniqueItems": False,
    **dict.fromkeys(("minLength", "minItems", "minProperties"), 0),
}
"""Values of keywords that restrict nothing."""

DIALECTS = {
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", "$defs"),
    "draft-07": ("http://json-schema.org/draft-07/schema#", "definitions"),
}
"""The URI and the key of definitions of each dialect; the first one is the default for writing."""
