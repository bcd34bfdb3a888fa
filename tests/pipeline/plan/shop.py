"""A small shop as values: sources, products, a reconciliation, publications and their contracts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.documents import contract
from treaty.contracts import Contract
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import (
    Agreement,
    Assertion,
    Attribute,
    Claim,
    Delay,
    Files,
    Form,
    Format,
    Product,
    Project,
    Publication,
    ReasonClass,
    Reconciliation,
    Source,
    Sql,
)

FOLDER = Path("/shop")
Fields = list[dict[str, Any]]


def _field(name: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    kinds = {"money": {"logicalType": "number", "physicalType": "decimal(12,2)"}}
    return {"name": name, **kinds.get(kind, {"logicalType": kind}), **more}


def key(name: str) -> dict[str, Any]:
    return _field(name, required=True, primaryKey=True)


PLACED = [
    key("event_id"),
    _field("order_id", required=True),
    _field("seq", "integer"),
    _field("customer_id"),
    _field("amount", "money"),
    _field("placed_at", "timestamp"),
]
PAID = [
    key("event_id"),
    _field("payment_id", required=True),
    _field("order_id", required=True),
    _field("seq", "integer"),
    _field("paid", "money"),
    _field("is_gone", "boolean"),
]
CUSTOMER = [key("customer_id"), _field("seq", "integer"), _field("city")]
ORDERS = [key("order_id"), _field("amount", "money"), _field("city"), _field("placed_at", "timestamp")]
PAYMENTS = [key("payment_id"), _field("order_id", required=True), _field("paid", "money")]
BALANCE = [key("order_id"), _field("amount", "money"), _field("paid", "money"), _field("is_open", "boolean")]
SALES = [key("order_id"), _field("paid", "money"), _field("city")]

CONTRACTS: dict[str, Fields] = {
    "placed": PLACED,
    "paid": PAID,
    "customer_changed": CUSTOMER,
    "customers": CUSTOMER,
    "orders": ORDERS,
    "payments": PAYMENTS,
    "balance": BALANCE,
    "sales": SALES,
    "late_sales": SALES,
    "sales_now": BALANCE,
    "partner": SALES,
}


def sql(name: str, text: str) -> Sql:
    return Sql(FOLDER / "sql" / f"{name}.sql", text)


def _source(name: str, **more: Any) -> Source:
    return Source(
        name, Line(name, 1), Files(f"{FOLDER}/landing/{name}/*", Format.JSONL), at=f"{FOLDER}/{name}.yaml:1", **more
    )


ORDERS_SQL = """SELECT p.order_id, sum(p.amount) AS amount, max(c.city) AS city, min(p.placed_at) AS placed_at
FROM placed p LEFT JOIN customers c ON c.customer_id = p.customer_id
GROUP BY p.order_id"""
PAYMENT_SQL = "SELECT order_id, sum(paid) AS total FROM payments GROUP BY order_id"
SALES_SQL = """SELECT b.order_id, sum(p.paid) AS paid, max(o.city) AS city
FROM balance b JOIN payments p ON p.order_id = b.order_id JOIN orders o ON o.order_id = b.order_id
GROUP BY b.order_id"""

SHOP = Project(
    folder=FOLDER,
    sources=(_source("placed"), _source("paid", identity=("event_id",)), _source("customer_changed")),
    products=(
        Product("payments", Line("payments", 1), ("paid",), deleted_when="is_gone", at=f"{FOLDER}/payments.yaml:1"),
        Product(
            "orders",
            Line("orders", 1),
            ("placed",),
            sql("orders", ORDERS_SQL),
            ("customers",),
            at=f"{FOLDER}/orders.yaml:1",
        ),
        Product("customers", Line("customers", 1), ("customer_changed",), at=f"{FOLDER}/customers.yaml:1"),
    ),
    reconciliations=(
        Reconciliation(
            "balance",
            Line("balance", 1),
            (Claim("placed", "orders"), Claim("received", "payments", sql("received", PAYMENT_SQL))),
            (
                Attribute("amount", ("placed",)),
                Attribute("paid", ("received",), {"received": "total"}, agreement=Agreement(), default=0),
                Attribute("is_open", derived="coalesce(paid, received.total) < amount"),
            ),
            (Assertion("paid_enough", "paid <= amount OR placed.order_id IS NULL", ReasonClass.CONFLICT),),
            at=f"{FOLDER}/balance.yaml:1",
        ),
    ),
    publications=(
        Publication(
            "sales",
            Line("sales", 1),
            ("balance", "payments", "orders"),
            "sales_v1",
            sql("sales", SALES_SQL),
            at=f"{FOLDER}/sales.yaml:1",
        ),
        Publication(
            "late_sales",
            Line("late_sales", 1),
            ("orders",),
            "late_sales_v1",
            sql("late", "SELECT order_id, amount AS paid, city, placed_at FROM orders"),
            delay=Delay("placed_at", timedelta(days=1)),
            at=f"{FOLDER}/late.yaml:1",
        ),
        Publication(
            "sales_now", Line("sales_now", 1), ("balance",), "sales_now_v1", form=Form.VIEW, at=f"{FOLDER}/now.yaml:1"
        ),
        Publication("partner", Line("partner", 1), ("balance",), "partner_v1", at=f"{FOLDER}/partner.yaml:1"),
    ),
)


def contracts(**changed: Any) -> dict[Line, Contract]:
    """Return the contracts by line, some of them with other fields or terms."""
    contracts = {}
    for name, fields in CONTRACTS.items():
        changes = changed.get(name, {})
        changes = changes if isinstance(changes, dict) else {"fields": changes}
        contracts[Line(name, 1)] = contract(
            {"id": name, **({} if "schema" in changes else {"fields": fields}), **changes}
        )
    return contracts


def with_product(name: str, **changed: Any) -> Project:
    """Return the shop with another product of that name."""
    return replace(SHOP, products=tuple(replace(one, **changed) if one.name == name else one for one in SHOP.products))


def with_publication(name: str, **changed: Any) -> Project:
    """Return the shop with another publication of that name."""
    changed_ones = tuple(replace(one, **changed) if one.name == name else one for one in SHOP.publications)
    return replace(SHOP, publications=changed_ones)


def with_reconciliation(**changed: Any) -> Project:
    """Return the shop with another reconciliation."""
    return replace(SHOP, reconciliations=(replace(SHOP.reconciliations[0], **changed),))
