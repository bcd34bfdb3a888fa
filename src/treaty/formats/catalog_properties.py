"""A contract as properties of a table: one text for each promise, for readers of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from treaty.contracts.model import Contract
from treaty.contracts.values import canonical_json

PREFIX = "treaty."
"""Prefix of our properties of a table, so that they do not clash with those of Iceberg."""
_SEPARATOR = "; "


def describe_contract(contract: Contract) -> dict[str, str]:
    """Return what a contract states about its table by name: owner, meaning, guarantees and limits."""
    texts = {name: describe(contract) for name, describe in _PROPERTIES.items()}
    return {name: text for name, text in texts.items() if text}


def one_line(text: Any) -> str:
    """Return a text on one line; an empty text if there is none."""
    return " ".join(str(text).split()) if text else ""


def _joined(texts: Iterable[Any]) -> str:
    return _SEPARATOR.join(filter(None, map(one_line, texts)))


def _about(contract: Contract, part: str) -> str:
    return one_line(contract.description.get(part)) if contract.description else ""


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
    "status": lambda contract: one_line(contract.status),
    "name": lambda contract: one_line(contract.name),
    "domain": lambda contract: one_line(contract.domain),
    "owner": lambda contract: _joined(contract.owners),
    "meaning": lambda contract: _about(contract, "purpose"),
    "usage": lambda contract: _about(contract, "usage"),
    "limitations": lambda contract: _about(contract, "limitations"),
    "source-authority": lambda contract: one_line(contract.treaty.source_authority),
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
        (field.physical_name or field.name or ""): field.classification
        for schema in contract.schema
        for field in schema.fields
        if field.classification
    }
    return canonical_json(classified) if classified else ""
