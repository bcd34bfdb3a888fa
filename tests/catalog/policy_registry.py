"""A registry with orders that a domain policy and the contract mask for three consumers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.documents import document
from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app

DOMAIN: dict[str, Any] = document(
    {
        "id": "policy.shop",
        "tier": "domain",
        "data_policy": {
            "classifications": {"restricted": {"mask": "hash", "key": "customers", "clear_for": ["customer support"]}},
            "purposes": ["customer support", "analytics", "delivery"],
        },
    }
)
ORDERS: dict[str, Any] = document(
    {
        "id": "orders",
        "parent": "policy.shop",
        "fields": [
            {"name": "order_id", "logicalType": "string", "primaryKey": True, "required": True},
            {"name": "customer", "logicalType": "string", "classification": "restricted"},
            {"name": "city", "logicalType": "string"},
            {"name": "country", "logicalType": "string"},
            {"name": "placed_on", "logicalType": "date"},
        ],
        "data_policy": {
            "fields": {"city": {"mask": "generalise", "to": "prefix", "length": 2, "clear_for": ["customer support"]}},
            "residency": {"column": "country", "serve": {"DE": ["eu"], "US": ["us"]}},
            "retention": {"column": "placed_on", "at_most": "400 d"},
        },
    }
)
CONSUMERS = {
    "support-desk": ("customer support", ()),
    "churn-models": ("analytics", ("order_id", "customer", "city")),
    "advertising": ("advertising", ("order_id", "customer")),
}


@contextmanager
def policy_registry(folder: Path) -> Iterator[tuple[Registry, str]]:
    """Yield the registry, and the address of a server of it."""
    with Registry.open(str(folder / "registry.db")) as registry:
        registry.register(DOMAIN)
        registry.register(ORDERS)
        for consumer, (purpose, fields) in CONSUMERS.items():
            registry.consumers.subscribe(
                consumer, "orders@1", consumer_class="operational_reporting", purpose=purpose, fields=fields
            )
        with running(create_app(registry)) as address:
            yield registry, address
