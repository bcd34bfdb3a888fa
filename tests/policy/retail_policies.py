"""A contract with every kind of field, and the policies above it."""

from __future__ import annotations

from typing import Any

from tests.documents import contract
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import parse_line
from treaty.policy import KeyRing, parse_key_ring

FIELDS: list[dict[str, Any]] = [
    {"name": "order_id", "logicalType": "string", "primaryKey": True},
    {"name": "buyer", "logicalType": "string", "classification": "restricted"},
    {"name": "phone", "logicalType": "string", "pii": True, "classification": "internal"},
    {"name": "postcode", "logicalType": "string"},
    {"name": "placed_on", "logicalType": "date"},
    {"name": "total", "logicalType": "number"},
    {"name": "country", "logicalType": "string"},
    {
        "name": "address",
        "logicalType": "object",
        "classification": "restricted",
        "properties": [{"name": "city", "logicalType": "string"}, {"name": "street", "logicalType": "string"}],
    },
]
ENTERPRISE = contract(
    {
        "id": "policy.enterprise",
        "tier": "enterprise",
        "data_policy": {"classifications": {"restricted": {"mask": "redact", "clear_for": ["support*", "audit"]}}},
    }
)
SALES = contract(
    {
        "id": "policy.sales",
        "version": "2.1.0",
        "tier": "domain",
        "data_policy": {
            "classifications": {"pii": "null"},
            "purposes": ["support*", "analytics", "audit"],
        },
    }
)
ORDERS = contract(
    {
        "fields": FIELDS,
        "data_policy": {
            "classifications": {"Restricted": {"mask": "hash", "key": "customer", "clear_for": ["support*"]}},
            "fields": {
                "postcode": {"mask": "generalise", "to": "prefix", "length": 2, "clear_for": ["support*"]},
                "placed_on": {"mask": "generalise", "to": "month", "clear_for": ["support*"]},
                "total": {"mask": "generalise", "to": "range", "width": 100, "clear_for": ["support*"]},
            },
        },
    }
)


def subscription(purpose: str | None, *fields: str) -> Subscription:
    """Return a subscription to the orders."""
    kind = ConsumerClass.OPERATIONAL_REPORTING
    return Subscription("desk", parse_line("orders@1"), kind, parse_fields(fields), purpose)


def find_test_key(name: str) -> KeyRing:
    """Return a key of fixed secrets, the newer one first."""
    return parse_key_ring(name, f"b:{name} secret of this year,a:{name} secret of last year", "TREATY_TEST_KEY")
