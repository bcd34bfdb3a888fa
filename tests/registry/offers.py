"""Contracts that tests hand in: each says only what it is about."""

from __future__ import annotations

from typing import Any

from tests.documents import document

USERS = "users.daily_active"
ORDERS = "orders"
PLAN = {"guide": "https://wiki.example.org/move", "window": "90d", "owner": "growth"}

ID = {"name": "id", "logicalType": "string", "required": True}
LTV = {"name": "ltv", "logicalType": "number"}
PLAN_FIELD = {"name": "plan", "logicalType": "string"}

_SHORT: dict[str, Any] = {
    "dataset_id": USERS,
    "version": "1.0.0",
    "status": "active",
    "owners": [{"team": "growth", "contact": "#growth"}],
    "fields": [
        {"name": "user_id", "type": "string"},
        {"name": "plan", "type": "string", "enum": ["free", "pro"]},
        {"name": "ltv", "type": "number", "required": False},
    ],
    "primary_key": ["user_id"],
}


def users(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """Return a contract in the short form; a key that is None is left out."""
    laid = {**_SHORT, "version": version, **changes}
    return {key: value for key, value in laid.items() if value is not None}


def without(name: str, version: str, **changes: Any) -> dict[str, Any]:
    """Return the short form without one field."""
    return users(version, fields=[one for one in _SHORT["fields"] if one["name"] != name], **changes)


def with_field(name: str, version: str, **changes: Any) -> dict[str, Any]:
    """Return the short form with one more optional field."""
    return users(version, fields=[*_SHORT["fields"], {"name": name, "type": "string", "required": False}], **changes)


def orders(version: str = "1.0.0", fields: list[Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a contract in ODCS with a few fields, `ltv` among them."""
    chosen = [ID, PLAN_FIELD, LTV] if fields is None else fields
    return document({"version": version, "fields": chosen, **changes})


def made_from(name: str, *upstreams: str, **changes: Any) -> dict[str, Any]:
    """Return a contract that is made from others; `orders:ltv,plan` names the fields it takes."""
    lineage = []
    for upstream in upstreams:
        contract, _, fields = upstream.partition(":")
        lineage.append({"contract": contract} | ({"fields": fields.split(",")} if fields else {}))
    return orders(id=name, lineage=lineage, **changes)
