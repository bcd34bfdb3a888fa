"""Contracts as ODCS documents."""

from __future__ import annotations

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs.keys import CONTRACT, FIELD, OBJECT
from treaty.contracts.odcs.plain_keys import BlockStyle, settle
from treaty.contracts.values import Json, thaw


def write_odcs(contract: Contract, blocks: BlockStyle = BlockStyle.CUSTOM) -> dict[str, Json]:
    """Write the contract as strict ODCS, or with Treaty's blocks as plain keys where they were authored so."""
    document: dict[str, Json] = {"kind": "DataContract"} | _said(contract, CONTRACT)
    if contract.objects is not None:
        document["schema"] = [_write_object(item, blocks) for item in contract.objects]
    return settle(document, contract.plain_keys, blocks)


def _write_object(item: SchemaObject, blocks: BlockStyle) -> dict[str, Json]:
    document = _said(item, OBJECT)
    if item.properties is not None:
        document["properties"] = [_write_field(field, blocks) for field in item.properties]
    return document


def _write_field(field: Field, blocks: BlockStyle) -> dict[str, Json]:
    document = _said(field, FIELD)
    if field.properties is not None:
        document["properties"] = [_write_field(child, blocks) for child in field.properties]
    if field.items is not None:
        document["items"] = _write_field(field.items, blocks)
    if field.map_key is not None and field.map_value is not None:
        document["map"] = {
            "key": _write_field(field.map_key, blocks),
            "value": _write_field(field.map_value, blocks),
        }
    return settle(document, field.plain_keys, blocks)


def _said(part: Contract | SchemaObject | Field, table: dict[str, str]) -> dict[str, Json]:
    """Return what a part of the model says in the keys of the table, and in those that are only kept."""
    values = {key: getattr(part, attribute) for key, attribute in table.items()}
    kept: dict[str, Json] = thaw(part.more)
    return {key: thaw(value) for key, value in values.items() if value is not None} | kept
