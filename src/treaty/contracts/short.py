"""The short form: one flat dataset in a few keys, read into the same model and written back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treaty.contracts import schemas
from treaty.contracts.findings import Finding, Place
from treaty.contracts.model import Contract, Field, Form, SchemaObject, field_of
from treaty.contracts.odcs import LATEST_API_VERSION, parse_written
from treaty.contracts.quantities import seconds
from treaty.contracts.reading.lines import PlaceOf
from treaty.contracts.validation import problem, refuse_if_any, violations
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
_WHERE_IT_STANDS = {
    "slaProperties": "freshness_sla",
    "id": "dataset_id",
    "customProperties": "owners",
    "description": "description",
    "deprecation": "deprecation_uri",
}


def looks_like_short_form(data: Mapping[str, Any]) -> bool:
    """Tell the short form by the keys that only it has."""
    return "dataset_id" in data or "fields" in data


def parse_short_form(data: dict[str, Json], place_of: PlaceOf) -> Contract:
    """Read the short form, or refuse it with every problem named."""
    own_blocks = schemas.block_names() - {"owners"}
    short = {key: value for key, value in data.items() if key not in own_blocks}
    problems = violations(schemas.short_form(), short, place_of, schemas.known_keys_of_short_form)
    refuse_if_any(problems)
    refuse_if_any(list(_inconsistent(short, place_of)))
    blocks = {key: value for key, value in data.items() if key in own_blocks}
    document = _as_odcs(short)
    if isinstance(blocks.get("deprecation"), dict):
        refuse_if_any(list(_two_guides(document, blocks["deprecation"], place_of)))
        blocks["deprecation"] = document.get("deprecation", {}) | blocks["deprecation"]
    return parse_written(document | blocks, (_object_of(short),), in_short_terms(place_of), Form.SHORT)


def write_short_form(contract: Contract) -> dict[str, Json]:
    """Write the contract in the short form, without what that form cannot carry."""
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


def _as_odcs(short: dict[str, Json]) -> dict[str, Json]:
    """Write everything but the fields as an ODCS document does."""
    document: dict[str, Json] = {
        "apiVersion": LATEST_API_VERSION,
        "kind": "DataContract",
        "id": short["dataset_id"],
        "version": short["version"],
        "status": short.get("status", _DEFAULT_STATUS),
    }
    if short.get("description") is not None:
        document["description"] = {"purpose": short["description"]}
    if short["owners"]:
        document["owners"] = [
            {key: value for key, value in owner.items() if value is not None} for owner in short["owners"]
        ]
    if sla := short.get("freshness_sla"):
        document["slaProperties"] = [
            {
                "property": "freshness",
                "value": sla["max_lag_seconds"],
                "unit": "s",
                **_measured_by(sla.get("measurement", _DEFAULT_MEASUREMENT)),
            }
        ]
    if (short.get("deprecation_uri") or "").strip():
        document["deprecation"] = {"migration_guide": short["deprecation_uri"]}
    return document


def _measured_by(measurement: str) -> dict[str, Json]:
    """Name the element a freshness is measured by; the event time goes without saying."""
    return {} if measurement == _DEFAULT_MEASUREMENT else {"element": measurement}


def _object_of(short: dict[str, Json]) -> SchemaObject:
    keys = {name: place for place, name in enumerate(short.get("primary_key") or (), start=1)}
    return SchemaObject(short["dataset_id"], properties=tuple(_field_of(field, keys) for field in short["fields"]))


def _field_of(field: dict[str, Json], keys: Mapping[str, int]) -> Field:
    name, kind = field["name"], field["type"]
    known: dict[str, Any] = {"name": name, "logical_type": kind, "required": field.get("required", True)}
    if kind == "json":
        known |= {"logical_type": "object", "physical_type": "json"}
    if name in keys:
        known |= {"primary_key": True, "primary_key_position": keys[name]}
    if field.get("description") is not None:
        known["description"] = field["description"]
    if field.get("enum"):
        known["enum"] = tuple(FrozenMap({"value": value}) for value in field["enum"])
    if field.get("deprecated"):
        known["deprecated"] = True
    return field_of(known)


def _inconsistent(short: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    names: set[str] = set()
    for index, field in enumerate(short["fields"]):
        if field["name"] in names:
            yield problem(f"field {field['name']!r} is declared twice", ("fields", index), place_of, "keep one of them")
        names.add(field["name"])
        if field.get("enum"):
            yield from _misplaced_values(field, index, place_of)
    for key in short.get("primary_key") or ():
        if key not in names:
            yield problem(
                f"primary_key field {key!r} is not declared in fields",
                ("primary_key",),
                place_of,
                "add the field",
            )
    if short.get("status") == "deprecated" and not (short.get("deprecation_uri") or "").strip():
        yield problem("status 'deprecated' needs a deprecation_uri", ("status",), place_of, "link the migration plan")


def _two_guides(document: dict[str, Json], notice: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    linked = document.get("deprecation", {}).get("migration_guide")
    if linked is not None and notice.get("migration_guide", linked) != linked:
        message = "deprecation_uri and deprecation.migration_guide differ"
        yield problem(message, ("deprecation",), place_of, "keep one of them")


def _misplaced_values(field: dict[str, Json], index: int, place_of: PlaceOf) -> Iterator[Finding]:
    for value in field["enum"]:
        if type(value) not in _LISTED_AS.get(field["type"], ()):
            where = ("fields", index, "enum")
            yield problem(
                f"{value!r} is not a {field['type']} that an enum can hold",
                where,
                place_of,
                "match the field's type",
            )


def in_short_terms(place_of: PlaceOf) -> PlaceOf:
    """Translate pointers into the ODCS document back to the short form that was written."""

    def translated(pointer: Sequence[str | int]) -> Place:
        if len(pointer) >= 4 and pointer[0] == "schema":
            return place_of(("fields", *pointer[3:]))
        if pointer and pointer[0] in _WHERE_IT_STANDS:
            return place_of((_WHERE_IT_STANDS[str(pointer[0])],))
        return place_of(pointer)

    return translated


def _freshness_of(contract: Contract) -> dict[str, Json] | None:
    for level in contract.sla or ():
        lag = seconds(level.get("value"), level.get("unit"))
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
    """Yield the blocks that stand beside the short form as plain keys."""
    for entry in contract.custom_properties or ():
        name = entry.get("property")
        if not isinstance(name, str) or name == "owners" or not schemas.fits_block(name, thaw(entry.get("value"))):
            continue
        if name != "deprecation":
            yield name, entry["value"]
        elif rest := _beside_the_guide(entry["value"]):
            yield name, rest


def _beside_the_guide(notice: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a deprecation says besides the guide, which is the short form's deprecation_uri."""
    return {key: value for key, value in notice.items() if key != "migration_guide"}
