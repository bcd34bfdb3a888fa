"""The contracts of the gym example, and a contract with fields of all types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treaty.contracts import Contract, contract_from, load

FOLDER = Path(__file__).parents[2] / "examples" / "gym" / "contracts"


def gym_contracts() -> list[Contract]:
    """Return the contracts of the stream of classes."""
    names = ("published", "updated", "cancelled")
    return [load((FOLDER / f"gym.scheduling.class_{name}.yaml").read_text()).contract for name in names]


def event_contract(fields: list[dict[str, Any]], name: str = "SaleClosed", **blocks: Any) -> Contract:
    """Return an event contract with fields."""
    return contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": f"shop.{name}",
            "version": "1.0.0",
            "event": {"type": name},
            "schema": [{"name": name, "properties": fields}],
            **blocks,
        }
    )


SALE_FIELDS: list[dict[str, Any]] = [
    {"name": "saleId", "logicalType": "string", "required": True, "primaryKey": True, "primaryKeyPosition": 1},
    {"name": "step", "logicalType": "integer", "required": True, "logicalTypeOptions": {"minimum": 1}},
    {
        "name": "closedAt",
        "logicalType": "timestamp",
        "required": True,
        "logicalTypeOptions": {"timezone": True},
        "semantic_type": "event time",
    },
    {"name": "net", "logicalType": "number", "physicalType": "decimal(12,2)", "logicalTypeOptions": {"minimum": 0}},
    {"name": "tax", "logicalType": "number", "physicalType": "decimal(12,2)", "logicalTypeOptions": {"minimum": 0}},
    {"name": "gross", "logicalType": "number", "physicalType": "decimal(12,2)"},
    {"name": "ratio", "logicalType": "number", "logicalTypeOptions": {"minimum": 0, "maximum": 1}},
    {"name": "currency", "logicalType": "string", "logicalTypeOptions": {"pattern": "^[A-Z]{3}$"}},
    {"name": "channel", "logicalType": "string", "enum": [{"value": "web"}, {"value": "shop"}]},
    {"name": "day", "logicalType": "date"},
    {"name": "shownAt", "logicalType": "timestamp", "logicalTypeOptions": {"timezone": False}},
    {"name": "isGift", "logicalType": "boolean", "required": True},
    {"name": "seal", "logicalType": "string", "physicalType": "binary"},
    {"name": "ticket", "logicalType": "string", "logicalTypeOptions": {"format": "uuid"}},
    {
        "name": "lines",
        "logicalType": "array",
        "required": True,
        "logicalTypeOptions": {"minItems": 1, "maxItems": 3},
        "items": {
            "logicalType": "object",
            "properties": [
                {"name": "sku", "logicalType": "string", "required": True},
                {"name": "pieces", "logicalType": "integer", "logicalTypeOptions": {"minimum": 1, "maximum": 9}},
            ],
        },
    },
]


def sale_contract(**blocks: Any) -> Contract:
    """Return a contract without a life cycle, which is delivered exactly once and has rules on sums."""
    return event_contract(
        SALE_FIELDS,
        ordering={"key": ["saleId"], "sequence": "step"},
        delivery={"guarantee": "exactly_once"},
        latency={"within": "10 s"},
        content="closed",
        exclusions=["Margins of the buyer"],
        **blocks,
    )


SUM_RULE = {"name": "sums_up", "type": "sql", "query": "gross = net + tax"}
