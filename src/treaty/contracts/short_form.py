"""The short form of a contract: reads it into the contract model and writes it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from treaty.contracts import schemas
from treaty.contracts.blocks import owners_alone
from treaty.contracts.data_policy_checks import check_data_policy
from treaty.contracts.field_moves import check_field_moves
from treaty.contracts.findings import Finding, Place, PlaceOf
from treaty.contracts.frozen import build_frozen, deferred_key
from treaty.contracts.lifecycle_checks import check_lifecycle
from treaty.contracts.measure_checks import check_measures
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.quantities import parse_seconds
from treaty.contracts.requirement_checks import check_requirements
from treaty.contracts.validation import declared_twice, finding_at, raise_if_any, schema_violations
from treaty.contracts.values import EMPTY, FrozenMap, Json, thaw

_TYPES = ("string", "integer", "number", "boolean", "timestamp")
_LISTED_AS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_DEFAULT_STATUS = "draft"
_DEFAULT_MEASUREMENT = "event_time"
_PROPERTIES_LATER, _SLA_LATER, _CUSTOM_PROPERTIES_LATER = map(deferred_key, ("properties", "sla", "custom_properties"))
_FIELD_DEFAULTS: dict[str, Json] = {"required": True, "description": None, "enum": None, "deprecated": False}
_SHORT_FORM_KEYS = {
    "slaProperties": "freshness_sla",
    "id": "dataset_id",
    "customProperties": "owners",
    "description": "description",
    "deprecation": "deprecation_uri",
}


def looks_like_short_form(data: Mapping[str, Any]) -> bool:
    """Return whether data has the keys of the short form."""
    return "dataset_id" in data or "fields" in data


def parse_short_form(data: dict[str, Json], place_of: PlaceOf) -> Contract:
    """Convert a short form to a contract, or raise InvalidDocument with all problems."""
    own_blocks = _own_blocks()
    short, blocks = data, {}
    if not own_blocks.isdisjoint(data):
        short = {key: value for key, value in data.items() if key not in own_blocks}
        blocks = {key: value for key, value in data.items() if key in own_blocks}
    raise_if_any(schema_violations(schemas.short_form(), short, place_of, schemas.known_keys_of_short_form))
    raise_if_any(list(_inconsistent(short, blocks, place_of)))
    carried = _carried(short)
    if blocks:
        carried = _with_blocks(carried, blocks, place_of, short_form_places(data, place_of))
    contract = _contract_of(short, carried)
    if "require" in carried:
        raise_if_any(list(check_requirements(carried, place_of)))
    if "measures" in carried:
        raise_if_any(list(check_measures(carried, place_of)))
    if "lifecycle" in carried:
        raise_if_any(list(check_lifecycle(carried, place_of)))
    if "data_policy" in carried:
        raise_if_any(list(check_data_policy(contract, carried, place_of)))
    if "migration" in carried:
        raise_if_any(list(check_field_moves(contract, carried, short_form_places(data, place_of))))
    return contract


@cache
def _own_blocks() -> frozenset[str]:
    """Return the names of the blocks that the short form may have; `owners` is one of its own keys."""
    return schemas.block_names() - {"owners"}


def _with_blocks(
    carried: dict[str, Json], blocks: dict[str, Json], place_of: PlaceOf, translated: PlaceOf
) -> dict[str, Json]:
    """Add the extension blocks to those that follow from keys of the short form."""
    if isinstance(blocks.get("deprecation"), dict):
        linked = carried.get("deprecation", {})
        raise_if_any(list(_two_guides(linked, blocks["deprecation"], place_of)))
        blocks["deprecation"] = linked | blocks["deprecation"]
    together = carried | blocks
    raise_if_any(schema_violations(schemas.blocks(), together, translated, schemas.known_keys_of_odcs))
    return together


def write_short_form(contract: Contract) -> dict[str, Json]:
    """Return a contract in the short form, without what the short form cannot represent."""
    fields = contract.schema[0].fields if contract.schema else ()
    document: dict[str, Json] = {
        "dataset_id": contract.id,
        "version": contract.version,
        "description": (contract.description or EMPTY).get("purpose"),
        "owners": [
            {"team": owner.team} | ({"contact": owner.contact} if owner.contact else {}) for owner in contract.owners
        ],
        "freshness_sla": _freshness_of(contract),
        "status": contract.status or _DEFAULT_STATUS,
        "deprecation_uri": contract.treaty.deprecation.migration_guide if contract.treaty.deprecation else None,
        "primary_key": list(contract.schema[0].primary_key) if contract.schema else None,
        "fields": [_write_field(field) for field in fields],
    }
    carried = {key: thaw(value) for key, value in _blocks_carried(contract)}
    needed = ("owners", "fields")
    return {key: value for key, value in document.items() if key in needed or value not in (None, [])} | carried


def with_defaults(short: dict[str, Json]) -> dict[str, Json]:
    """Return a short form with the defaults of all optional keys."""
    sla = short.get("freshness_sla")
    return short | {
        "description": short.get("description"),
        "fields": [_FIELD_DEFAULTS | one for one in short["fields"]],
        "owners": [{"team": one["team"], "contact": one.get("contact")} for one in short["owners"]],
        "freshness_sla": {"measurement": _DEFAULT_MEASUREMENT, **sla} if sla else None,
        "status": short.get("status", _DEFAULT_STATUS),
        "deprecation_uri": short.get("deprecation_uri"),
        "primary_key": short.get("primary_key") or [],
    }


def _contract_of(short: dict[str, Json], carried: dict[str, Json]) -> Contract:
    """Build the contract; blocks become custom properties that are marked as plain keys."""
    purpose, sla = short.get("description"), short.get("freshness_sla")
    attributes: dict[str, Any] = {
        "id": short["dataset_id"],
        "version": short["version"],
        "api_version": LATEST_API_VERSION,
        "status": short.get("status", _DEFAULT_STATUS),
        "objects": (_object_of(short),),
        "form": Form.SHORT,
    }
    if purpose is not None:
        attributes["description"] = FrozenMap({"purpose": purpose})
    if sla:
        attributes[_SLA_LATER] = partial(_freshness_in, sla)
    if carried:
        attributes[_CUSTOM_PROPERTIES_LATER] = partial(_as_properties, carried)
        attributes["plain_keys"] = tuple(carried)
        if len(carried) == 1 and "owners" in carried:
            attributes["treaty"] = owners_alone(carried["owners"])
    return build_frozen(Contract, attributes)


def _as_properties(carried: dict[str, Json]) -> tuple[FrozenMap, ...]:
    return tuple([FrozenMap({"property": name, "value": value}) for name, value in carried.items()])


def _carried(short: dict[str, Json]) -> dict[str, Json]:
    """Return the blocks that follow from keys of the short form."""
    carried: dict[str, Json] = {}
    if short["owners"]:
        carried["owners"] = [
            {key: value for key, value in owner.items() if value is not None} for owner in short["owners"]
        ]
    if (short.get("deprecation_uri") or "").strip():
        carried["deprecation"] = {"migration_guide": short["deprecation_uri"]}
    return carried


def _freshness_in(sla: dict[str, Json]) -> tuple[FrozenMap, ...]:
    """Return a freshness as ODCS service level; the default measurement is omitted."""
    level = {"property": "freshness", "value": sla["max_lag_seconds"], "unit": "s"}
    measurement = sla.get("measurement", _DEFAULT_MEASUREMENT)
    return (FrozenMap(level if measurement == _DEFAULT_MEASUREMENT else {**level, "element": measurement}),)


def _object_of(short: dict[str, Json]) -> SchemaObject:
    """Build the schema object; its fields are deferred, because registering a first version does not need them."""
    return build_frozen(SchemaObject, {"name": short["dataset_id"], _PROPERTIES_LATER: partial(_fields_of, short)})


def _fields_of(short: dict[str, Json]) -> tuple[Field, ...]:
    keys = {name: place for place, name in enumerate(short.get("primary_key") or (), start=1)}
    return tuple([_field_of(field, keys) for field in short["fields"]])


def _field_of(field: dict[str, Json], keys: Mapping[str, int]) -> Field:
    name, kind = field["name"], field["type"]
    attributes: dict[str, Any] = {"name": name, "logical_type": kind, "required": field.get("required", True)}
    if kind == "json":
        attributes["logical_type"], attributes["physical_type"] = "object", "json"
    if name in keys:
        attributes["primary_key"], attributes["primary_key_position"] = True, keys[name]
    if (description := field.get("description")) is not None:
        attributes["description"] = description
    if values := field.get("enum"):
        attributes["enum"] = tuple([FrozenMap({"value": value}) for value in values])
    if field.get("deprecated"):
        attributes["deprecated"] = True
    return build_frozen(Field, attributes)


def _inconsistent(short: dict[str, Json], blocks: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    names: dict[str, int] = {}
    for index, field in enumerate(short["fields"]):
        name = field["name"]
        if name in names:
            yield declared_twice(name, ("fields", names[name]), ("fields", index), place_of)
        names.setdefault(name, index)
        if field.get("enum"):
            yield from _misplaced_values(field, index, place_of)
    for key in short.get("primary_key") or ():
        if key not in names:
            yield finding_at(
                f"primary_key field {key!r} is not declared in fields",
                ("primary_key",),
                place_of,
                "add the field",
            )
    if short.get("status") == "deprecated" and not _has_guide(short, blocks):
        yield finding_at(
            "status 'deprecated' needs a deprecation_uri", ("status",), place_of, "link the migration plan"
        )


def _has_guide(short: dict[str, Json], blocks: dict[str, Json]) -> bool:
    """Return whether a migration guide is linked by `deprecation_uri` or by the deprecation block."""
    notice = blocks.get("deprecation")
    linked = notice.get("migration_guide") if isinstance(notice, dict) else None
    return bool((short.get("deprecation_uri") or "").strip() or linked)


def _two_guides(linked: dict[str, Json], notice: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    guide = linked.get("migration_guide")
    if guide is not None and notice.get("migration_guide", guide) != guide:
        message = "deprecation_uri and deprecation.migration_guide differ"
        yield finding_at(message, ("deprecation",), place_of, "keep one of them")


def _misplaced_values(field: dict[str, Json], index: int, place_of: PlaceOf) -> Iterator[Finding]:
    for value in field["enum"]:
        if type(value) not in _LISTED_AS.get(field["type"], ()):
            where = ("fields", index, "enum")
            yield finding_at(
                f"{value!r} is not a {field['type']} that an enum can hold",
                where,
                place_of,
                "match the field's type",
            )


def short_form_places(data: Mapping[str, Json], place_of: PlaceOf) -> PlaceOf:
    """Translate pointers of the contract model to places in the short form."""

    def translated(pointer: Sequence[str | int]) -> Place:
        if len(pointer) >= 4 and pointer[0] == "schema":
            return place_of(("fields", *pointer[3:]))
        if pointer and pointer[0] in _SHORT_FORM_KEYS and pointer[0] not in data:
            return place_of((_SHORT_FORM_KEYS[str(pointer[0])],))
        return place_of(pointer)

    return translated


def _freshness_of(contract: Contract) -> dict[str, Json] | None:
    for level in contract.sla or ():
        lag = parse_seconds(level.get("value"), level.get("unit"))
        if level.get("property") == "freshness" and lag is not None and lag >= 1 and lag == int(lag):
            element = level.get("element")
            return {"max_lag_seconds": int(lag)} | ({"measurement": element} if element is not None else {})
    return None


def _write_field(field: Field) -> dict[str, Json]:
    name = field.type.name if field.type else "string"
    document: dict[str, Json] = {"name": field.name, "type": name if name in _TYPES else _nearest(name)}
    if not field.required:
        document["required"] = False
    if field.description is not None:
        document["description"] = field.description
    if field.enum:
        document["enum"] = [thaw(item["value"]) for item in field.enum]
    if field.deprecated:
        document["deprecated"] = True
    return document


def _nearest(name: str) -> str:
    return {"date": "timestamp", "time": "string", "binary": "string"}.get(name, "json")


def _blocks_carried(contract: Contract) -> Iterator[tuple[str, Any]]:
    """Yield the extension blocks that the short form writes as plain keys."""
    for entry in contract.custom_properties or ():
        name = entry.get("property")
        if not isinstance(name, str) or name == "owners" or not schemas.fits_block(name, thaw(entry.get("value"))):
            continue
        if name != "deprecation":
            yield name, entry["value"]
        elif rest := _without_guide(entry["value"]):
            yield name, rest


def _without_guide(notice: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deprecation without its guide, which the short form writes as `deprecation_uri`."""
    return {key: value for key, value in notice.items() if key != "migration_guide"}
