"""The JSON schema of each version of ODCS, derived from the official schema of 3.2.

No package ships the schemas of older versions. The tables below say how each version differs from the next one, as
edits by path. A path leads through keys; `*` means every key that has the rest of the path, and in a list of
conditions a part of the path names the value that the condition tests (`allOf/date`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import jsonschema_rs

from treaty.contracts.findings import Finding, Place, PlaceOf, Pointer
from treaty.contracts.schemas import known_keys_of_odcs, official_odcs
from treaty.contracts.validation import Violation, locate_violations

Schema = dict[str, Any]
Edits = Mapping[str, Any]

REMOVED = object()
"""The value of an edit that removes what its path leads to."""

_STRING, _INTEGER, _NUMBER, _FLAG = ({"type": name} for name in ("string", "integer", "number", "boolean"))
_FIELD = "$defs/SchemaBaseProperty"
_SERVERS = "$defs/ServerSource"
_DATE = {"type": "string", "format": "date"}
_PAIR = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2, "uniqueItems": True}
_NAME, _KEY, _YAML_FILE = "[A-Za-z_][A-Za-z0-9_]*", "[A-Za-z0-9_-]+", r"(https?://)?[A-Za-z0-9._/-]+\.yaml"
_OLD_FILES = {"format": {"type": "string", "enum": ["parquet", "delta", "json", "csv"]}}
_OLD_LINES = {"delimiter": {"type": "string", "enum": ["new_line", "array"]}}


def _removed(parent: str, *names: str) -> dict[str, Any]:
    return {f"{parent}/{name}": REMOVED for name in names}


CORRECTIONS: Edits = {
    f"{_FIELD}/allOf/map/if/required": ["logicalType"],
}
"""The official schema of 3.2 asks every field without a logical type for the entries of a map; Treaty does not."""

TO_3_1_0: Edits = {
    "required": ["version", "apiVersion", "kind", "id", "status"],
    "properties/context": REMOVED,
    f"{_FIELD}/properties/logicalType/enum": [
        *("string", "date", "timestamp", "time", "number", "integer", "object", "array", "boolean")
    ],
    **_removed(f"{_FIELD}/allOf", "map", "vector"),
    **_removed(f"{_FIELD}/properties", "enum", "semanticType"),
    **_removed("$defs/SchemaElement/properties", "deprecated", "synonyms"),
    **_removed("$defs/SchemaObject/properties", "context"),
    **_removed("$defs/CustomProperty/properties", "vendor"),
    **_removed("$defs/RelationshipBase/properties", "id"),
    **_removed("$defs/ServiceLevelAgreementProperty/properties", "authoritativeDefinitions", "customProperties"),
    "$defs/ShorthandReference/pattern": rf"^{_NAME}\.{_NAME}$",
    "$defs/FullyQualifiedReference/pattern": rf"^({_YAML_FILE}#)?/?{_NAME}/{_KEY}(/{_NAME}/{_KEY})*$",
    **_removed(
        "$defs/Server/properties/type/enum",
        *("btrieve", "exasol", "fastobjects", "hana", "iceberg", "ingres", "poet", "teradata", "vectorwise", "versant"),
    ),
    f"{_SERVERS}/*/properties/port": _INTEGER,
    f"{_SERVERS}/*/properties/encoding": REMOVED,
    f"{_SERVERS}/AthenaServer/properties/workgroup": REMOVED,
    f"{_SERVERS}/AthenaServer/required": ["stagingDir", "schema"],
}

TO_3_0_2: Edits = {
    "unevaluatedProperties": REMOVED,
    "properties/team": {"type": "array", "items": {"$ref": "#/$defs/Team"}},
    f"{_FIELD}/properties/logicalType/enum": ["string", "date", "number", "integer", "object", "array", "boolean"],
    f"{_FIELD}/allOf/timestamp": REMOVED,
    **{
        f"{_FIELD}/allOf/{kind}/then/properties/logicalTypeOptions/properties/{bound}": _FLAG
        for kind in ("date", "integer", "number")
        for bound in ("exclusiveMaximum", "exclusiveMinimum")
    },
    f"{_FIELD}/properties/relationships": REMOVED,
    f"{_FIELD}/unevaluatedProperties": REMOVED,
    "$defs/SchemaElement/properties/id": REMOVED,
    "$defs/SchemaObject/properties/relationships": REMOVED,
    "$defs/AuthoritativeDefinitions/items/additionalProperties": REMOVED,
    **_removed("$defs/AuthoritativeDefinitions/items/properties", "description", "id"),
    **_removed("$defs/CustomProperty", "additionalProperties", "required"),
    **_removed("$defs/CustomProperty/properties", "description", "id"),
    **_removed("$defs/DataQuality", "unevaluatedProperties"),
    **_removed("$defs/DataQuality/properties", "id"),
    "$defs/DataQuality/allOf/library/if": {"properties": {"type": {"const": "library"}}},
    "$defs/DataQualityLibrary": {
        "type": "object",
        "properties": {
            "rule": _STRING,
            "mustBe": {},
            "mustNotBe": {},
            **dict.fromkeys(
                ("mustBeGreaterThan", "mustBeGreaterOrEqualTo", "mustBeLessThan", "mustBeLessOrEqualTo"), _NUMBER
            ),
            **dict.fromkeys(("mustBeBetween", "mustNotBeBetween"), _PAIR),
        },
        "required": ["rule"],
    },
    "$defs/DataQualitySql/allOf": REMOVED,
    "$defs/Pricing/additionalProperties": REMOVED,
    "$defs/Pricing/properties/id": REMOVED,
    "$defs/Role/additionalProperties": REMOVED,
    "$defs/Role/properties/id": REMOVED,
    "$defs/Server/unevaluatedProperties": REMOVED,
    "$defs/Server/properties/id": REMOVED,
    **_removed("$defs/Server/properties/type/enum", "hive", "impala", "zen"),
    **{
        f"{_SERVERS}/{name}/properties/{key}": rule
        for name in ("AzureServer", "S3Server", "SftpServer")
        for key, rule in (_OLD_FILES | _OLD_LINES).items()
    },
    f"{_SERVERS}/CustomServer/properties/stream": REMOVED,
    f"{_SERVERS}/DuckdbServer/properties/schema": _INTEGER,
    "$defs/ServiceLevelAgreementProperty/additionalProperties": REMOVED,
    **_removed("$defs/ServiceLevelAgreementProperty/properties", *("description", "id", "schedule", "scheduler")),
    "$defs/SupportItem/additionalProperties": REMOVED,
    **_removed("$defs/SupportItem/properties", "customProperties", "id"),
    "$defs/SupportItem/required": ["channel", "url"],
    "$defs/Team": {
        "type": "object",
        "properties": {
            **dict.fromkeys(("username", "name", "description", "role", "replacedByUsername"), _STRING),
            **dict.fromkeys(("dateIn", "dateOut"), _DATE),
        },
    },
}

TO_3_0_1: Edits = {
    f"{_FIELD}/properties/physicalName": REMOVED,
    **_removed("$defs/Team/properties", "name", "description"),
    f"{_SERVERS}/AthenaServer/required": ["staging_dir", "schema"],
}

TO_3_0_0: Edits = {
    "properties/authoritativeDefinitions": REMOVED,
    **_removed("properties/description/properties", "authoritativeDefinitions", "customProperties"),
    "$defs/Role/properties/customProperties": REMOVED,
}

EDITS: Mapping[str, tuple[Edits, ...]] = {
    "v3.2.0": (),
    "v3.1.0": (TO_3_1_0,),
    "v3.0.2": (TO_3_1_0, TO_3_0_2),
    "v3.0.1": (TO_3_1_0, TO_3_0_2, TO_3_0_1),
    "v3.0.0": (TO_3_1_0, TO_3_0_2, TO_3_0_1, TO_3_0_0),
}
"""The versions of ODCS, newest first, with the edits that lead to the schema of each."""
LATEST_API_VERSION = next(iter(EDITS))


def find_violations(document: Schema, place_of: PlaceOf) -> list[Finding]:
    """Return what no version of ODCS from the stated one on allows.

    Documents often use a key or type that came with a later version than the one they state. They are read; `treaty
    lint` reports them (`find_version_problems`) and exports state a version that has the key (`valid_version`).
    """
    violations = _violations(document, validator_for(document.get("apiVersion")), place_of)
    for version in _later_versions(document) if violations else ():
        refused = [one.pointer for one in _violations(document, _validator(version), place_of)]
        violations = [one for one in violations if any(_overlap(one.pointer, pointer) for pointer in refused)]
    return [one.finding for one in violations]


def find_version_problems(document: Schema) -> list[Violation]:
    """Return what the version that a document states does not allow."""
    validator = validator_for(document.get("apiVersion"))
    return _violations(document, validator, lambda _: Place(str(document.get("id"))))


def valid_version(document: Schema) -> str | None:
    """Return the version under whose official schema a document is valid: the stated one, a later or an earlier one."""
    stated = str(document.get("apiVersion"))
    others = (*_later_versions(document), *EDITS)
    for version in (stated, *others):
        if version in EDITS and _official_validator(version).is_valid(document | {"apiVersion": version}):
            return version
    return None


def _later_versions(document: Schema) -> tuple[str, ...]:
    """Return the versions after the stated one, oldest first; none if the stated version is unknown."""
    versions = tuple(EDITS)
    stated = document.get("apiVersion")
    return versions[: versions.index(stated)][::-1] if isinstance(stated, str) and stated in EDITS else ()


def _violations(document: Schema, validator: jsonschema_rs.Validator, place_of: PlaceOf) -> list[Violation]:
    return locate_violations(validator, document, place_of, known_keys_of_odcs)


def _overlap(one: Pointer, other: Pointer) -> bool:
    """Return whether one part of a document is the other, or is inside it."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def validator_for(api_version: object) -> jsonschema_rs.Validator:
    """Return the validator for an `apiVersion`; other versions get that of the latest, which refuses them."""
    return _validator(api_version if isinstance(api_version, str) and api_version in EDITS else LATEST_API_VERSION)


@cache
def _validator(version: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema_of(version))


@cache
def _official_validator(version: str) -> jsonschema_rs.Validator:
    """Return the validator without Treaty's corrections."""
    return jsonschema_rs.validator_for(official_odcs()) if version == LATEST_API_VERSION else _validator(version)


def schema_of(version: str) -> Schema:
    """Return the JSON schema of a version of ODCS, with Treaty's correction of the official schema of 3.2."""
    schema = official_odcs()
    for edits in (CORRECTIONS, *EDITS[version]):
        for path, value in edits.items():
            _edit(schema, tuple(path.split("/")), value)
    return schema


def _edit(schema: Any, path: tuple[str, ...], value: Any) -> None:
    """Apply one edit; a path with `*` is applied where all of it exists."""
    first, *rest = path
    if first == "*":
        for name in schema:
            if _exists(schema[name], tuple(rest)):
                _edit(schema[name], tuple(rest), value)
    elif rest:
        _edit(schema[_key_in(schema, first)], tuple(rest), value)
    elif value is REMOVED:
        del schema[_key_in(schema, first)]
    else:
        schema[first] = deepcopy(value)


def _exists(schema: Any, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(schema, dict) or part not in schema:
            return False
        schema = schema[part]
    return True


def _key_in(schema: Any, part: str) -> Any:
    """Return the key of a part of a path: a name, or the position of a value or condition in a list."""
    if isinstance(schema, list):
        return next(index for index, item in enumerate(schema) if item == part or part in _tested_values(item))
    return part


def _tested_values(condition: Any) -> Iterator[Any]:
    """Yield the constants that the `if` of a condition compares with."""
    pending = [condition.get("if", {})] if isinstance(condition, dict) else []
    while pending:
        schema = pending.pop()
        if isinstance(schema, dict):
            yield from (value for key, value in schema.items() if key == "const")
            pending += schema.values()
        elif isinstance(schema, list):
            pending += schema
