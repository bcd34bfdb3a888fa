"""Contracts to send to a server."""

from __future__ import annotations

from typing import Any

USERS = "users.daily_active"


def short(dataset_id: str = USERS, version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """Return a contract in the short form."""
    usual: dict[str, Any] = {
        "dataset_id": dataset_id,
        "version": version,
        "status": "active",
        "owners": [{"team": "growth", "contact": "#growth"}],
        "fields": [
            {"name": "user_id", "type": "string"},
            {"name": "plan", "type": "string", "enum": ["free", "pro"]},
            {"name": "ltv", "type": "number", "required": False},
        ],
        "primary_key": ["user_id"],
    }
    return {**usual, **changes}


def without(document: dict[str, Any], field: str) -> dict[str, Any]:
    """Return a contract without one of its fields."""
    return {**document, "fields": [one for one in document["fields"] if one["name"] != field]}


def odcs(identity: str = "sales.orders", version: str = "1.0.0") -> dict[str, Any]:
    """Return a contract in ODCS."""
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": identity,
        "version": version,
        "status": "active",
        "team": {"name": "sales", "members": [{"username": "ana@example.org", "role": "owner"}]},
        "schema": [
            {
                "name": "orders",
                "logicalType": "object",
                "properties": [{"name": "order_id", "logicalType": "string", "required": True, "primaryKey": True}],
            }
        ],
    }
