"""Data products of the Open Data Product Standard: their ports, and the draft of a contract for those without one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import FrozenMap, Json, abbreviate, freeze
from treaty.contracts.versions import try_parse_version
from treaty.formats.flat_terms import as_list, as_mapping

EVIDENCE_KEY = "evidence"
"""The custom property of a drafted contract or object that names where it was found."""
FIRST_VERSION = "0.1.0"
UNKNOWN_OWNER = "unknown"
TODO = "TODO"
_KIND = re.compile(rb"""^\s*\{?\s*["']?kind["']?\s*:\s*["']?DataProduct\b""", re.MULTILINE)
_NOT_NAME_CHARACTERS = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True)
class Port:
    """An input or output port of a data product; `contract` is the id of its contract, if it names one."""

    name: str
    version: str | None = None
    contract: str | None = None
    kind: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class DataProduct:
    """A data product and its ports, read from a file."""

    path: str
    id: str
    name: str
    version: str | None
    domain: str | None
    purpose: str | None
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


@dataclass(frozen=True)
class PortSchema:
    """The schema that a file has for a port."""

    item: SchemaObject
    path: str


def looks_like_data_product(content: bytes) -> bool:
    """Whether a file is meant to be a data product, judging by its `kind`."""
    return _KIND.search(content) is not None


def read_data_product(content: bytes, path: str, limits: Limits) -> DataProduct:
    """Read a data product, version 0.9 or 1."""
    data = read_document(content, path, limits).data
    identity, name = _text(data.get("id")), _text(data.get("name"))
    if data.get("kind") != "DataProduct" or not (identity or name):
        raise invalid_document("not a data product with an id or a name", Place(path), "state kind, id and name")
    return DataProduct(
        path,
        identity or str(name),
        name or str(identity),
        _text(data.get("version")),
        _text(data.get("domain")),
        _text(as_mapping(data.get("description")).get("purpose")),
        _ports(data.get("inputPorts"), path),
        _ports(data.get("outputPorts"), path),
    )


def _ports(value: Json, path: str) -> tuple[Port, ...]:
    ports = []
    for entry in as_list(value):
        name = _text(as_mapping(entry).get("name"))
        if name is None:
            raise invalid_document(f"the port {abbreviate(entry)!r} has no name", Place(path), "name it")
        keys = ("version", "contractId", "type", "description")
        ports.append(Port(name.strip(), *(_text(entry.get(key)) for key in keys)))
    return tuple(ports)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def product_slug(product: DataProduct) -> str:
    """Return the name of a product as the id of a contract."""
    return _NOT_NAME_CHARACTERS.sub("-", product.name.lower()).strip("-") or product.id


def draft_contract(
    product: DataProduct, ports: Sequence[Port], owner: str | None, team: str | None, schemas: Mapping[str, PortSchema]
) -> Contract:
    """Draft the contract of a product from those of its output ports that have none.

    A port has the fields of its schema, if there is one. What only people know is marked as TODO.
    """
    latest = _latest_versions(ports)
    stated = {"team": team or UNKNOWN_OWNER, **({"contact": owner} if owner else {})}
    is_semantic = product.version is not None and try_parse_version(product.version) is not None
    evidence = {"file": product.path, "output_ports": list(latest), "input_ports": [*map(_describe, product.inputs)]}
    evidence["owner"] = "CODEOWNERS" if owner else "no file names one"
    return Contract(
        product_slug(product),
        str(product.version) if is_semantic else FIRST_VERSION,
        LATEST_API_VERSION,
        name=product.name,
        status="draft",
        domain=product.domain,
        description=FrozenMap({"purpose": product.purpose or TODO}),
        objects=tuple(_object(product, port, schemas.get(port.name)) for port in latest.values()),
        custom_properties=(
            freeze({"property": "owners", "value": [stated]}),
            freeze({"property": EVIDENCE_KEY, "value": {key: value for key, value in evidence.items() if value}}),
        ),
        plain_keys=("owners",),
    )


def draft_from_schema(contract: Contract, path: str, *, contract_id: str | None, object_name: str | None) -> Contract:
    """Return the contract that a schema file describes as a draft, with its file as the evidence."""
    objects = contract.schema
    if object_name is not None and len(objects) == 1:
        objects = (replace(objects[0], name=object_name),)
    custom = [entry for entry in contract.custom_properties or () if entry.get("property") != EVIDENCE_KEY]
    if not contract.owners:
        custom.append(freeze({"property": "owners", "value": [{"team": TODO}]}))
    custom.append(freeze({"property": EVIDENCE_KEY, "value": {"file": path}}))
    return replace(
        contract,
        id=contract_id or contract.id,
        version=contract.version if contract.is_versioned else FIRST_VERSION,
        status="draft",
        description=contract.description or FrozenMap({"purpose": TODO}),
        objects=objects,
        custom_properties=tuple(custom),
        plain_keys=("owners",),
    )


def _object(product: DataProduct, port: Port, schema: PortSchema | None) -> SchemaObject:
    evidence = {"file": product.path, "port": port.name}
    evidence |= {"version": port.version} if port.version else {}
    evidence |= {"schema": schema.path} if schema else {}
    item = schema.item if schema else SchemaObject(port.name)
    entry = freeze({"property": EVIDENCE_KEY, "value": evidence})
    return replace(
        item,
        name=port.name,
        physical_type=item.physical_type or port.kind,
        description=port.description or item.description,
        custom_properties=(*(item.custom_properties or ()), entry),
    )


def _latest_versions(ports: Sequence[Port]) -> dict[str, Port]:
    """Return the latest version of each port by name, with the last description that a version has."""
    latest: dict[str, Port] = {port.name: port for port in ports}
    for port in sorted(ports, key=_version_order):
        described = port.description or (latest[port.name].description if port.name in latest else None)
        latest[port.name] = replace(port, description=described)
    return latest


def _describe(port: Port) -> dict[str, Json]:
    known = {"name": port.name, "version": port.version, "contract": port.contract}
    return {key: value for key, value in known.items() if value}


def _version_order(port: Port) -> tuple[int, int, int]:
    version = try_parse_version(port.version) if port.version else None
    return (version.major, version.minor, version.patch) if version else (-1, -1, -1)
