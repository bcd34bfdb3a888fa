"""Versions of an order contract for the tests of registry commands."""

from __future__ import annotations

from typing import Any

ID: dict[str, Any] = {"name": "order_id", "logicalType": "string", "required": True, "primaryKey": True}
TOTAL: dict[str, Any] = {"name": "total", "logicalType": "number", "description": "What is paid, tax included."}
CITY: dict[str, Any] = {"name": "city", "logicalType": "string"}
PLAN = {"guide": "https://example.com/guide", "window": "90 d", "owner": "checkout"}

V1: dict[str, Any] = {"version": "1.0.0", "fields": [ID, TOTAL]}
V1_WITH_CITY: dict[str, Any] = {"version": "1.1.0", "fields": [ID, TOTAL, CITY]}
V1_WITHOUT_TOTAL: dict[str, Any] = {"version": "1.1.0", "fields": [ID]}
V2: dict[str, Any] = {"version": "2.0.0", "fields": [ID], "migration": PLAN}

POLICY: dict[str, Any] = {
    "id": "policy",
    "tier": "enterprise",
    "slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}],
}
CHILD: dict[str, Any] = {
    **V1,
    "parent": "policy",
    "slaProperties": [{"property": "freshness", "value": 30, "unit": "min"}],
}
WEAK_CHILD: dict[str, Any] = {**CHILD, "slaProperties": [{"property": "freshness", "value": 2, "unit": "h"}]}
