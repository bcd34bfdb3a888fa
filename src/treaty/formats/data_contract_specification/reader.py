"""Read documents of the Data Contract Specification as contracts.

The reader writes the ODCS document of the contract. Keys without a place in ODCS become custom properties, so that a
change of them is detected; what cannot be kept is reported as a loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.loader import contract_from
from treaty.contracts.schemas import fits_block
from treaty.contracts.text import read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import Json, abbreviate
from treaty.formats.contract_documents import (
    HEAD,
    custom_properties,
    rename_keys,
    valid_server,
    with_custom_properties,
    without_nulls,
)
from treaty.formats.data_contract_specification.fields import FieldReader, links, quality_rule
from treaty.formats.flat_terms import as_list, as_mapping
from treaty.formats.results import UNVERSIONED, ReadResult

VERSION_KEY = "dataContractSpecification"
_STATUSES = {"in development": "draft"}
_INFO = ("title", "version", "status", "description", "owner", "contact")
_TERMS = ("usage", "limitations", "noticePeriod")
_CONTACT = ("name", "url", "email")
_MODEL = {"description": "description", "type": "physicalType", "title": "businessName", "tags": "tags"}
_READ_OF_MODEL = (*_MODEL, "fields", "primaryKey", "quality", "examples", "links")
_READ = (VERSION_KEY, "id", "info", "servers", "terms", "models", "definitions", "servicelevels", "serviceLevels")
_ALSO_READ = ("links", "tags", "quality", "examples", "schema")
_SAMPLES = "a contract holds no sample rows"
_LEVELS = {
    "availability": "percentage",
    "retention": "period",
    "latency": "threshold",
    "freshness": "threshold",
    "frequency": "interval",
    "support": "time",
    "backup": "interval",
}
"""The key of the value of a service level."""
_ELEMENTS = ("timestampField", "processedTimestampField")


def read(text: str, name: str) -> ReadResult:
    """Read the contract of a document; each of its models is an object of the contract."""
    data = without_nulls(read_document(text, name).data)
    info = data.get("info")
    if VERSION_KEY not in data or not isinstance(info, Mapping) or not isinstance(data.get("id"), str):
        raise invalid_document(
            "not a document of the Data Contract Specification",
            Place(name),
            f"it needs the keys {VERSION_KEY!r}, 'id' and 'info'",
        )
    fields = FieldReader(as_mapping(data.get("definitions")))
    document = _document(data, info, fields)
    if "examples" in data:
        fields.add_loss("", f"examples {abbreviate(data['examples'])}", _SAMPLES)
    if "schema" in data:
        fields.add_loss("", f"schema {abbreviate(data['schema'])}", "only models are read")
    fields.report_unused_definitions()
    return ReadResult((contract_from(document, name),), tuple(fields.losses))


def _document(data: Mapping[str, Any], info: Mapping[str, Any], fields: FieldReader) -> dict[str, Json]:
    terms = as_mapping(data.get("terms"))
    version = info.get("version")
    document: dict[str, Json] = HEAD | {"id": data["id"], "version": UNVERSIONED if version is None else str(version)}
    document |= rename_keys(info, {"title": "name", "status": "status"})
    if isinstance(status := document.get("status"), str):
        document["status"] = _STATUSES.get(status.lower(), status)
    description = rename_keys(info, {"description": "purpose"}) | rename_keys(
        terms, {"usage": "usage", "limitations": "limitations"}
    )
    parts: dict[str, Json] = {
        "description": description,
        "tags": as_list(data.get("tags")),
        "servers": [_server(name, keys) for name, keys in as_mapping(data.get("servers")).items()],
        "team": {"name": info["owner"]} if isinstance(info.get("owner"), str) else None,
        "support": list(_support(as_mapping(info.get("contact")))),
        "slaProperties": list(_service_levels(data)),
        "authoritativeDefinitions": links(data.get("links")),
        "schema": _objects(data, fields),
    }
    document |= {key: value for key, value in parts.items() if value}
    return with_custom_properties(document, _other_keys(data, info, terms))


def _other_keys(data: Mapping[str, Any], info: Mapping[str, Any], terms: Mapping[str, Any]) -> list[Json]:
    policy = rename_keys(terms, {"noticePeriod": "noticePeriod"})
    if fits_block("change_policy", notice := {"notice": terms.get("noticePeriod")}):
        policy = {"change_policy": notice}
    contact = as_mapping(info.get("contact"))
    content = {"content": "closed"} if _is_closed(data) else {}
    return [
        *custom_properties(info, without=_INFO),
        *custom_properties(contact, without=_CONTACT),
        *custom_properties(terms, without=_TERMS),
        *custom_properties(policy, without=()),
        *custom_properties(content, data, without=(*_READ, *_ALSO_READ)),
    ]


def _is_closed(data: Mapping[str, Any]) -> bool:
    """Return whether every model states that it has no additional fields."""
    models = as_mapping(data.get("models")).values()
    return bool(models) and all(as_mapping(model).get("additionalFields") is False for model in models)


def _support(contact: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    name, url, email = (contact.get(key) for key in _CONTACT)
    if email is not None:
        yield {"channel": str(email), "tool": "email"}
    if url is not None or (name is not None and email is None):
        yield {"channel": str(name if name is not None else url)} | ({"url": str(url)} if url is not None else {})


def _server(name: str, keys: Json) -> dict[str, Json]:
    rest = dict(as_mapping(keys))
    kind = str(rest.pop("type", "custom")).lower()
    if isinstance(rest.get("roles"), list):
        rest["roles"] = [
            rename_keys(as_mapping(role), {"name": "role", "description": "description"}) for role in rest["roles"]
        ]
    return valid_server(str(name), kind, rest)


def _service_levels(data: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    for key in ("servicelevels", "serviceLevels"):
        for name, level in as_mapping(data.get(key)).items():
            yield _service_level(name, as_mapping(level), level)


def _service_level(name: str, level: Mapping[str, Any], original: Json) -> dict[str, Json]:
    """Return a service level; its first time field is the element, other keys are custom properties."""
    value_key = _LEVELS.get(name, "value")
    element = next((key for key in _ELEMENTS if key in level), "")
    entry: dict[str, Json] = {"property": name, "value": level.get(value_key)}
    if not level and not isinstance(original, (dict, list)):
        entry["value"] = original
    entry |= rename_keys(level, {"description": "description", element: "element", "cron": "schedule"})
    if "schedule" in entry:
        entry["scheduler"] = "cron"
    return with_custom_properties(entry, custom_properties(level, without=("description", "cron", value_key, element)))


def _objects(data: Mapping[str, Any], fields: FieldReader) -> list[Json]:
    objects = [_object(str(name), as_mapping(model), fields) for name, model in as_mapping(data.get("models")).items()]
    checks = data.get("quality")
    if checks is not None and objects:  # checks of 0.9 for all models, which name their tables themselves
        settings = as_mapping(checks)
        rule = {"type": "custom", "engine": str(settings.get("type", "custom")), "implementation": _checks(checks)}
        objects[0].setdefault("quality", []).append(rule)
    return objects


def _checks(checks: Json) -> Json:
    specification = as_mapping(checks).get("specification", checks)
    return specification if isinstance(specification, (dict, str)) else {"checks": specification}


def _object(name: str, model: Mapping[str, Any], fields: FieldReader) -> dict[str, Json]:
    item: dict[str, Json] = {"name": name} | rename_keys(model, _MODEL)
    if "examples" in model:
        fields.add_loss(name, f"examples {abbreviate(model['examples'])}", _SAMPLES)
    properties = fields.fields(as_mapping(model.get("fields")), name)
    keys = [key for key in as_list(model.get("primaryKey")) if isinstance(key, str)]
    for position, key in enumerate(keys, start=1):
        for field in properties:
            if field["name"] == key:
                field |= {"primaryKey": True, "primaryKeyPosition": position}
    parts: dict[str, Json] = {
        "authoritativeDefinitions": links(model.get("links")),
        "quality": [quality_rule(rule) for rule in as_list(model.get("quality"))],
        "properties": properties,
    }
    item |= {key: value for key, value in parts.items() if value}
    other = {key: value for key, value in model.items() if key != "additionalFields" or value is not False}
    return with_custom_properties(item, custom_properties(other, without=_READ_OF_MODEL))
