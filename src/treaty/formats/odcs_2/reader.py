"""Read ODCS 2.x documents as contracts.

The reader writes the ODCS 3 document of the contract. Keys without a place in ODCS 3 become custom properties, so that
a change of them is detected; credentials are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.loader import contract_from
from treaty.contracts.text import read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import Json
from treaty.formats.contract_documents import (
    HEAD,
    custom_properties,
    read_type,
    rename_keys,
    valid_rule,
    with_custom_properties,
    without_nulls,
)
from treaty.formats.flat_terms import as_list, as_mapping
from treaty.formats.results import UNVERSIONED, Loss, ReadResult

_CONTRACT = {
    "status": "status",
    "tenant": "tenant",
    "datasetDomain": "domain",
    "quantumName": "dataProduct",
    "description": "description",
    "tags": "tags",
    "price": "price",
    "roles": "roles",
    "slaDefaultColumn": "slaDefaultElement",
    "contractCreatedTs": "contractCreatedTs",
    "customProperties": "customProperties",
}
_OBJECT = {
    "table": "name",
    "physicalName": "physicalName",
    "businessName": "businessName",
    "description": "description",
    "dataGranularity": "dataGranularityDescription",
    "authoritativeDefinitions": "authoritativeDefinitions",
    "tags": "tags",
    "customProperties": "customProperties",
}
_FIELD = {
    "column": "name",
    "businessName": "businessName",
    "description": "description",
    "isPrimary": "primaryKey",
    "isPrimaryKey": "primaryKey",
    "primaryKeyPosition": "primaryKeyPosition",
    "isUnique": "unique",
    "partitionStatus": "partitioned",
    "partitionKeyPosition": "partitionKeyPosition",
    "criticalDataElementStatus": "criticalDataElement",
    "classification": "classification",
    "tags": "tags",
    "transformSourceTables": "transformSourceObjects",
    "transformLogic": "transformLogic",
    "transformDescription": "transformDescription",
    "encryptedColumnName": "encryptedName",
    "sampleValues": "examples",
    "authoritativeDefinitions": "authoritativeDefinitions",
    "customProperties": "customProperties",
}
_RULE = {
    "code": "name",
    "description": "description",
    "dimension": "dimension",
    "severity": "severity",
    "businessImpact": "businessImpact",
    "scheduleCronExpression": "schedule",
    "customProperties": "customProperties",
}
_MEMBER = {
    "username": "username",
    "role": "role",
    "dateIn": "dateIn",
    "dateOut": "dateOut",
    "replacedByUsername": "replacedByUsername",
    "comment": "description",
}
_SERVICE_LEVEL = {
    "property": "property",
    "value": "value",
    "valueExt": "valueExt",
    "unit": "unit",
    "column": "element",
    "driver": "driver",
}
_SUPPORT = {"productDl": "email", "productSlackChannel": "slack", "productFeedbackUrl": "feedback"}
"""The keys of support channels, and the tool of each."""
_CREDENTIALS = ("username", "password")
_READ = (
    *_CONTRACT,
    *_SUPPORT,
    *_CREDENTIALS,
    *(
        "apiVersion",
        "kind",
        "uuid",
        "version",
        "datasetName",
        "dataset",
        "stakeholders",
        "slaProperties",
        "templateVersion",
    ),
)
_STATUSES = {"current": "active"}
_LOGICAL_TYPES = {
    **dict.fromkeys(("string", "text", "varchar", "char", "uuid"), "string"),
    **dict.fromkeys(("integer", "int", "long", "bigint", "smallint"), "integer"),
    **dict.fromkeys(("number", "decimal", "numeric", "double", "float"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("timestamp", "datetime"), "timestamp"),
    **dict.fromkeys(("object", "struct", "record"), "object"),
    "date": "date",
    "time": "time",
    "array": "array",
}
_RULES_ENGINE = "odcs-2"


def read(text: str, name: str) -> ReadResult:
    """Read the contract of a document; each of its tables is an object of the contract."""
    data = without_nulls(read_document(text, name).data)
    identity = next(
        (data[key] for key in ("uuid", "datasetName", "quantumName") if isinstance(data.get(key), str)), None
    )
    if identity is None:
        raise invalid_document("not an ODCS 2 document", Place(name), "it needs the key 'uuid' or 'datasetName'")
    losses: list[Loss] = []
    for key in _CREDENTIALS:
        if key in data:
            losses.append(Loss("", key, "credentials are not part of a contract"))
    document = _document(data, identity, losses)
    return ReadResult((contract_from(document, name),), tuple(losses))


def _document(data: Mapping[str, Any], identity: str, losses: list[Loss]) -> dict[str, Json]:
    version = data.get("version")
    document: dict[str, Json] = HEAD | {"id": identity, "version": UNVERSIONED if version is None else str(version)}
    document |= rename_keys(data, {"datasetName": "name"} | _CONTRACT)
    status = document.get("status")
    if status in _STATUSES:
        document["status"] = _STATUSES[status]
        losses.append(Loss("", f"status {status} becomes {document['status']}", "ODCS 3 has other statuses"))
    members = [rename_keys(as_mapping(one), _MEMBER) for one in as_list(data.get("stakeholders"))]
    parts: dict[str, Json] = {
        "team": {"members": [one for one in members if "username" in one]},
        "support": [{"channel": str(data[key]), "tool": tool} for key, tool in _SUPPORT.items() if data.get(key)],
        "slaProperties": [_service_level(as_mapping(one)) for one in as_list(data.get("slaProperties"))],
        "schema": [_object(as_mapping(one), losses) for one in as_list(data.get("dataset"))],
    }
    if not parts["team"]["members"]:
        del parts["team"]
    for one in members:
        if "username" not in one:
            losses.append(Loss("", f"stakeholder {one.get('role', '')}".rstrip(), "a team member needs a user name"))
    document |= {key: value for key, value in parts.items() if value}
    return with_custom_properties(document, custom_properties(data, without=_READ))


def _service_level(level: Mapping[str, Any]) -> dict[str, Json]:
    entry: dict[str, Json] = {"value": None} | rename_keys(level, _SERVICE_LEVEL)
    return with_custom_properties(entry, custom_properties(level, without=_SERVICE_LEVEL))


def _object(table: Mapping[str, Any], losses: list[Loss]) -> dict[str, Json]:
    item = rename_keys(table, _OBJECT)
    name = str(item.get("name", ""))
    rules = [_rule(rule) for rule in as_list(table.get("quality"))]
    columns = [_field(as_mapping(column), name, losses) for column in as_list(table.get("columns"))]
    item |= ({"quality": rules} if rules else {}) | {"properties": columns}
    return with_custom_properties(item, custom_properties(table, without=(*_OBJECT, "quality", "columns")))


def _field(column: Mapping[str, Any], table: str, losses: list[Loss]) -> dict[str, Json]:
    field = dict(_types(column)) | rename_keys(column, _FIELD)
    nullable = column.get("isNullable")
    if isinstance(nullable, bool):
        field["required"] = not nullable
    rules = [_rule(rule) for rule in as_list(column.get("quality"))]
    field |= {"quality": rules} if rules else {}
    if field.get("primaryKeyPosition") == -1:  # "not a part of the key"
        del field["primaryKeyPosition"]
    if "name" not in field:
        losses.append(Loss(table, "a column without a name", "a field has a name"))
        field["name"] = ""
    read = (*_FIELD, "logicalType", "physicalType", "isNullable", "quality")
    return with_custom_properties({"name": field.pop("name")} | field, custom_properties(column, without=read))


def _types(column: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """Yield the types of a column; an unknown logical type is the stored type, unless the column states one."""
    logical, physical = column.get("logicalType"), column.get("physicalType")
    known = _LOGICAL_TYPES.get(str(logical).lower()) if logical is not None else None
    if known is not None:
        yield "logicalType", known
    elif logical is not None and physical is None:
        yield from read_type(str(logical)).items()
    if physical is not None:
        if known is None:
            yield from read_type(str(physical)).items()
        yield "physicalType", str(physical)


def _rule(rule: Json) -> dict[str, Json]:
    """Return a quality rule, which ODCS 2 describes by the template and rule of a tool, as a custom rule."""
    data = as_mapping(rule)
    implementation = {key: value for key, value in data.items() if key not in (*_RULE, "toolName")}
    custom = {"type": "custom", **rename_keys(data, _RULE)}
    if "schedule" in custom:
        custom["scheduler"] = "cron"
    custom |= {"engine": str(data.get("toolName") or _RULES_ENGINE), "implementation": implementation}
    return valid_rule(custom, rule, _RULES_ENGINE)
