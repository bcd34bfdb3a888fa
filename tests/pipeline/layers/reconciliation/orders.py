"""Orders with claims of three products: contract, declaration and rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from treaty.contracts import Contract, contract_from
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import (
    Agreement,
    Assertion,
    Attribute,
    Claim,
    OnConflict,
    ReasonClass,
    Reconciliation,
    Sql,
)

_DECIMAL = {"logicalType": "number", "physicalType": "decimal(12,2)"}
_MOMENT = {"logicalType": "timestamp", "logicalTypeOptions": {"timezone": True}}
FIELDS: list[dict[str, Any]] = [
    {"name": "order_id", "logicalType": "string", "primaryKey": True, "logicalTypeOptions": {"pattern": "^O[0-9]+$"}},
    {"name": "currency", "logicalType": "string", "required": True},
    {"name": "gross", **_DECIMAL, "required": True},
    {"name": "paid", **_DECIMAL, "required": True},
    {"name": "variance", **_DECIMAL, "required": True},
    {"name": "email", "logicalType": "string", "classification": "restricted"},
    {"name": "placed_at", **_MOMENT},
    {"name": "weight", "logicalType": "number"},
    {"name": "state", "logicalType": "string", "required": True, "enum": [{"value": "paid"}, {"value": "unpaid"}]},
]


def contract_of(fields: list[dict[str, Any]]) -> Contract:
    """Return a contract with these fields."""
    return contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": "shop.commercial_order",
            "version": "1.0.0",
            "status": "active",
            "owners": [{"team": "Order Reconciliation"}],
            "schema": [{"name": "commercial_order", "properties": fields}],
        }
    )


CONTRACT = contract_of(FIELDS)
PAYMENT_SQL = """
SELECT order_id, max(currency) AS settled_currency, sum(amount) AS paid, max(email) AS email
FROM payments
GROUP BY order_id
"""
DECLARED = Reconciliation(
    name="commercial_order",
    line=Line("shop.commercial_order", 1),
    claims=(
        Claim("order", "orders"),
        Claim("payment", "payments", Sql(Path("sql/payment.sql"), PAYMENT_SQL)),
        Claim("shipment", "shipments"),
    ),
    attributes=(
        Attribute(
            "currency",
            ("order", "payment"),
            FrozenMap({"payment": "settled_currency"}),
            agreement=Agreement(),
            owner="Payments",
        ),
        Attribute("gross", ("order",)),
        Attribute("paid", ("payment",), default=0),
        Attribute("email", ("order", "payment"), agreement=Agreement()),
        Attribute("placed_at", ("order", "shipment"), FrozenMap({"shipment": "ordered_at"}), agreement=Agreement(60)),
        Attribute("weight", ("order", "shipment"), agreement=Agreement(0.1, True), on_conflict=OnConflict.NULL),
        Attribute("variance", derived="paid - gross"),
        Attribute(
            "state",
            derived="CASE WHEN variance >= -0.05 THEN 'paid' WHEN payment.paid > 0 THEN 'odd' ELSE 'unpaid' END",
        ),
    ),
    assertions=(
        Assertion(
            "money_matches",
            "abs(variance) <= 0.05 OR payment.order_id IS NULL",
            ReasonClass.CONFLICT,
            "Payments",
            "money received and money owed differ",
        ),
        Assertion("shipped_after_order", "shipment.shipped_at >= placed_at", ReasonClass.LATE),
    ),
    at="reconciliations/commercial_order.yaml:1",
)

_COLUMNS = {
    "order": "order_id string, currency string, gross decimal(12,2), email string, placed_at timestamp, weight double",
    "payment": "order_id string, currency string, amount decimal(12,2), email string",
    "shipment": "order_id string, ordered_at timestamp, shipped_at timestamp, weight double",
}
_AT = "timestamp'2026-03-01 10:00:00Z'"
_SHIPPED = f"{_AT}, timestamp'2026-03-02 10:00:00Z'"
CLAIM_ROWS: Mapping[str, tuple[str, ...]] = {
    "order": (
        f"'O1', 'EUR', 10.00, 'a@x.example', {_AT}, 1.0",
        f"'O2', 'EUR', 10.00, null, {_AT}, null",
        f"'O4', 'EUR', 10.00, 'a@x.example', {_AT}, 1.0",
        f"'O5', 'EUR', 10.00, null, {_AT}, 2.0",
        f"'O6', 'EUR', 10.00, null, {_AT}, 1.0",
        "'O7', 'EUR', 10.00, null, null, 1.0",
        f"null, 'EUR', 10.00, null, {_AT}, 1.0",
        f"'X8', 'EUR', 10.00, null, {_AT}, 1.0",
        f"'O9', 'EUR', 10.00, null, {_AT}, 1.0",
    ),
    "payment": (
        "'O1', 'EUR', 4.00, 'a@x.example'",
        "'O1', 'EUR', 6.05, null",
        "'O2', 'USD', 10.00, null",
        "'O3', 'EUR', 10.00, null",
        "'O4', 'EUR', 9.94, 'b@x.example'",
        "'O6', 'EUR', 10.00, null",
        "'O7', 'EUR', 10.00, null",
        "'O9', 'EUR', 10.00, null",
    ),
    "shipment": (
        f"'O1', {_SHIPPED}, 1.1",
        f"'O5', {_SHIPPED}, 2.5",
        f"'O6', {_SHIPPED}, 1.0",
        f"'O6', {_SHIPPED}, 0.9",
        "'O7', timestamp'2026-03-01 10:00:00Z', timestamp'2026-02-01 10:00:00Z', 1.0",
        "'O9', timestamp'2026-03-01 10:01:00.000001Z', timestamp'2026-03-02 10:00:00Z', 1.0",
    ),
}


def claims(spark: SparkSession, rows_by_claim: Mapping[str, tuple[str, ...]] = CLAIM_ROWS) -> dict[str, DataFrame]:
    """Return the rows of the product of each claim."""
    return {name: frame(spark, _COLUMNS[name], rows) for name, rows in rows_by_claim.items()}


def frame(spark: SparkSession, columns: str, rows: tuple[str, ...]) -> DataFrame:
    """Return rows given as SQL values."""
    parts = [
        part.strip().split(" ", 1) for part in columns.replace(", ", "\n").replace("(12\n2)", "(12,2)").split("\n")
    ]
    casts = ", ".join(f"CAST(c{place} AS {kind}) AS {name}" for place, (name, kind) in enumerate(parts))
    names = ", ".join(f"c{place}" for place in range(len(parts)))
    if not rows:
        empty = ", ".join(f"CAST(null AS {kind}) AS {name}" for name, kind in parts)
        return spark.sql(f"SELECT {empty} WHERE false")
    values = ", ".join(f"({row})" for row in rows)
    return spark.sql(f"SELECT {casts} FROM VALUES {values} AS t({names})")  # noqa: S608  rows of the tests
