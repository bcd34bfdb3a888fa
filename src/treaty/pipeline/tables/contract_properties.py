"""A contract as properties of its table and comments on its columns, for readers of the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.contracts.values import canonical_json
from treaty.pipeline.tables.ddl import COMMENT
from treaty.pipeline.tables.snapshots import PREFIX
from treaty.spark.schema import column_name

_SEPARATOR = "; "


def table_properties(contract: Contract) -> dict[str, str]:
    """Return the properties that describe the table: owner, meaning, guarantees and limits."""
    texts = {name: describe(contract) for name, describe in _PROPERTIES.items()}
    return {f"{PREFIX}{name}": text for name, text in texts.items() if text}


def with_comments(columns: spark.StructType, contract: Contract) -> spark.StructType:
    """Return the columns with the description of each field as its comment."""
    fields = [field for schema in contract.schema for field in schema.fields]
    return _with_comments(columns, fields)


def _with_comments(columns: spark.StructType, fields: Iterable[Field]) -> spark.StructType:
    known = {column_name(field): field for field in fields}
    return spark.StructType([_with_comment(column, known.get(column.name)) for column in columns])


def _with_comment(column: spark.StructField, field: Field | None) -> spark.StructField:
    if field is None:
        return column
    inside = column.dataType
    if isinstance(inside, spark.StructType) and field.properties:
        inside = _with_comments(inside, field.properties)
    meaning = _line(field.description) or _line(field.business_name)
    metadata = {**column.metadata, **({COMMENT: meaning} if meaning else {})}
    return spark.StructField(column.name, inside, column.nullable, metadata)


def _line(text: Any) -> str:
    return " ".join(str(text).split()) if text else ""


def _joined(texts: Iterable[Any]) -> str:
    return _SEPARATOR.join(filter(None, map(_line, texts)))


def _about(contract: Contract, part: str) -> str:
    return _line(contract.description.get(part)) if contract.description else ""


def _level(contract: Contract, name: str) -> str:
    """Return a service level such as `4 h`, with the element that it is measured by."""
    levels = (level for level in contract.sla or () if str(level.get("property", "")).lower() == name)
    return _joined(map(_measure, levels))


def _measure(level: Mapping[str, Any]) -> str:
    element = level.get("element")
    by = f"by {element}" if element else None
    return " ".join(str(part) for part in (level.get("value"), level.get("unit"), by) if part is not None)


def _block(block: Any, *parts: str) -> str:
    """Return the given parts of a block of the contract as one text."""
    if block is None:
        return ""
    values = (getattr(block, part) for part in parts)
    return _joined(", ".join(value) if isinstance(value, tuple) else value for value in values)


def _ordering(contract: Contract) -> str:
    order = contract.treaty.ordering
    if order is None:
        return ""
    if not order.is_guaranteed:
        return "none"
    return (
        f"by {order.sequence} for each {', '.join(order.key)}" if order.sequence else f"for each {', '.join(order.key)}"
    )


_PROPERTIES: dict[str, Callable[[Contract], str]] = {
    "contract": lambda contract: contract.id,
    "version": lambda contract: contract.version,
    "status": lambda contract: _line(contract.status),
    "name": lambda contract: _line(contract.name),
    "domain": lambda contract: _line(contract.domain),
    "owner": lambda contract: _joined(contract.owners),
    "meaning": lambda contract: _about(contract, "purpose"),
    "usage": lambda contract: _about(contract, "usage"),
    "limitations": lambda contract: _about(contract, "limitations"),
    "source-authority": lambda contract: _line(contract.treaty.source_authority),
    "identity-keys": lambda contract: ", ".join(key for schema in contract.schema for key in schema.primary_key),
    "freshness": lambda contract: _level(contract, "freshness"),
    "retention": lambda contract: _level(contract, "retention"),
    "ordering": _ordering,
    "delivery": lambda contract: _block(contract.treaty.delivery, "guarantee", "statement"),
    "latency": lambda contract: _block(contract.treaty.latency, "profile", "within", "statement"),
    "change-policy": lambda contract: _block(contract.treaty.change_policy, "compatibility", "notice", "statement"),
    "deprecation": lambda contract: _block(
        contract.treaty.deprecation, "announced", "sunset_date", "replacement", "migration_guide", "reason"
    ),
    "intended-consumers": lambda contract: _joined(
        f"{consumer.name}: {consumer.purpose}" if consumer.purpose else consumer.name
        for consumer in contract.treaty.intended_consumers
    ),
    "exclusions": lambda contract: _joined(exclusion.what for exclusion in contract.treaty.exclusions),
    "lineage": lambda contract: _joined(origin.contract or origin.source for origin in contract.treaty.lineage),
    "classifications": lambda contract: _classified(contract),
}
"""How each property is derived from the contract."""


def _classified(contract: Contract) -> str:
    """Return the classified fields with their classification, as JSON."""
    classified = {
        column_name(field): field.classification
        for schema in contract.schema
        for field in schema.fields
        if field.classification
    }
    return canonical_json(classified) if classified else ""
