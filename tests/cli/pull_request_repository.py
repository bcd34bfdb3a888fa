"""A repository with two consumers and a pull request that renames, narrows and removes fields."""

from __future__ import annotations

from typing import Any

ID: dict[str, Any] = {
    "name": "order_id",
    "logicalType": "string",
    "required": True,
    "primaryKey": True,
    "description": "Identifies an order for ever; minted once by checkout.",
}
TOTAL: dict[str, Any] = {
    "name": "gross_total",
    "logicalType": "number",
    "physicalType": "decimal(18,4)",
    "required": True,
    "unit": "EUR",
    "description": "What the customer pays, tax included.",
}
CITY: dict[str, Any] = {
    "name": "delivery_city",
    "logicalType": "string",
    "description": "The city that the parcel goes to.",
}
COUPON: dict[str, Any] = {"name": "coupon_code", "logicalType": "string", "description": "What the customer typed in."}
NARROWED = {**TOTAL, "physicalType": "decimal(12,2)"}
RENAMED = {**CITY, "name": "ship_to_city"}
PLAN = {"guide": "https://example.com/guides/orders-2", "window": "90 d", "owner": "checkout"}
BASE: dict[str, Any] = {
    "id": "shop.orders",
    "description": {"purpose": "One row per order that checkout accepted."},
    "slaProperties": [{"property": "freshness", "value": 30, "unit": "min"}],
}

V1 = {**BASE, "version": "1.4.0", "fields": [ID, TOTAL, {**CITY, "id": "city"}, COUPON]}
V1_ONE_MORE = {
    **V1,
    "version": "1.5.0",
    "fields": [*V1["fields"], {**COUPON, "name": "gift_message", "description": "What the card says."}],
}
REFUSED = {**BASE, "version": "1.5.0", "fields": [ID, NARROWED, RENAMED]}
V2 = {**BASE, "version": "2.0.0", "fields": [ID, NARROWED, {**RENAMED, "id": "city"}], "migration": PLAN}
CONSUMERS = {
    "subscriptions": [
        {
            "consumer": "group-ledger",
            "line": "shop.orders@1",
            "class": "external_regulatory",
            "contact": "#ledger",
            "fields": ["order_id", "gross_total"],
        },
        {
            "consumer": "delivery-planner",
            "line": "shop.orders@1",
            "class": "service_orchestration",
            "contact": "#planning",
            "fields": ["order_id", "delivery_city"],
        },
    ]
}
FILES: dict[str, Any] = {"contracts/orders.yaml": V1, "consumers/shop.yaml": CONSUMERS}
