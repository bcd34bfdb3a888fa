"""Attributes are settled from claims; keys with exceptions are held with reason and owner."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession

from tests.pipeline.layers.reconciliation.orders import CONTRACT, DECLARED, claims
from treaty.pipeline.layers.reconciliation import Reconciled, reconcile, reconciled_columns

RESOLVED: dict[str, dict[str, Any]] = {
    "O1": {  # two payments make up the sum, weights differ by exactly a tenth
        "currency": "EUR",
        "gross": Decimal("10.00"),
        "paid": Decimal("10.05"),
        "variance": Decimal("0.05"),
        "email": "a@x.example",
        "weight": 1.0,
        "state": "paid",
    },
    "O5": {  # no payment, and weights differ by more than a tenth
        "currency": "EUR",
        "gross": Decimal("10.00"),
        "paid": Decimal("0.00"),
        "variance": Decimal("-10.00"),
        "email": None,
        "weight": None,
        "state": "unpaid",
    },
}
EXCEPTIONS = {
    ("O2", "currency"): ("conflict", "Payments", "order and payment disagree on currency"),
    ("O3", "gross"): ("missing", "Order Reconciliation", "gross is required, but has no value in order"),
    ("O3", "variance"): (
        "missing",
        "Order Reconciliation",
        "variance is required, but its expression is null",
    ),
    ("O4", "email"): ("conflict", "Order Reconciliation", "order and payment disagree on email"),
    ("O4", "money_matches"): ("conflict", "Payments", "money received and money owed differ"),
    ("O6", "shipment"): (
        "duplicate",
        "Order Reconciliation",
        "claim shipment has several rows of shipments for one key",
    ),
    ("O7", "shipped_after_order"): (
        "late",
        "Order Reconciliation",
        "this does not hold: shipment.shipped_at >= placed_at",
    ),
    ("O9", "placed_at"): ("conflict", "Order Reconciliation", "order and shipment disagree on placed_at"),
    ("X8", "contract"): (
        "conflict",
        "Order Reconciliation",
        "the settled row violates shop.commercial_order 1.0.0: order_id must match ^O[0-9]+$",
    ),
}
CLAIMS: dict[tuple[str, str], dict[str, Any]] = {
    ("O2", "currency"): {
        "claims": {
            "order": {"product": "orders", "values": {"currency": "EUR"}},
            "payment": {"product": "payments", "values": {"settled_currency": "USD"}},
        }
    },
    ("O3", "gross"): {"claims": {"order": {"product": "orders", "values": None}}},
    ("O4", "email"): {
        "claims": {
            "order": {"product": "orders", "values": {"email": "***"}},
            "payment": {"product": "payments", "values": {"email": "***"}},
        }
    },
    ("O4", "money_matches"): {
        "claims": {
            "order": {"product": "orders", "values": {"gross": 10.0}},
            "payment": {"product": "payments", "values": {"order_id": "O4", "paid": 9.94}},
        },
        "attributes": {"variance": -0.06},
    },
    ("O6", "shipment"): {
        "claims": {
            "shipment": {
                "product": "shipments",
                "rows": 2,
                "values": {
                    "ordered_at": "2026-03-01T10:00:00.000000Z",
                    "shipped_at": "2026-03-02T10:00:00.000000Z",
                    "weight": 1.0,
                },
                "other_values": {
                    "ordered_at": "2026-03-01T10:00:00.000000Z",
                    "shipped_at": "2026-03-02T10:00:00.000000Z",
                    "weight": 0.9,
                },
            }
        }
    },
    ("X8", "contract"): {
        "violations": [
            {"rule": "pattern:order_id", "field": "order_id", "value": "X8", "message": "must match ^O[0-9]+$"}
        ]
    },
}


def _whole(reconciled: Reconciled) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    resolved = {row["order_id"]: row.asDict() for row in reconciled.rows.collect()}
    exceptions = {(row["order_id"], row["assertion"]): row for row in reconciled.exceptions.collect()}
    return resolved, exceptions


def test_every_key_is_resolved_or_held_with_its_exceptions(any_spark: SparkSession) -> None:
    found = reconcile(claims(any_spark), None, DECLARED, CONTRACT, unique=["order", "payment"])

    rows, exceptions = _whole(found)

    assert {key for key, row in rows.items() if row["_outcome"] == "resolved"} == set(RESOLVED)
    assert {key for key, row in rows.items() if row["_outcome"] == "held"} == {key for key, _ in EXCEPTIONS}
    assert {key: {name: rows[key][name] for name in RESOLVED[key]} for key in RESOLVED} == RESOLVED
    held = [row for row in rows.values() if row["_outcome"] == "held"]
    assert {value for row in held for name, value in row.items() if name not in ("order_id", "_outcome")} == {None}
    assert {key: (row["reason_class"], row["owner"], row["statement"]) for key, row in exceptions.items()} == EXCEPTIONS
    assert {key: json.loads(exceptions[key]["claims"]) for key in CLAIMS} == CLAIMS
    assert {row["state"] for row in exceptions.values()} == {"open"}
    assert {row["claim"]: row["rows"] for row in found.without_key.collect()} == {
        "order": 1,
        "payment": 0,
        "shipment": 0,
    }
    table = reconciled_columns(CONTRACT)
    assert [(one.name, one.dataType) for one in found.rows.schema] == [
        (one.name, one.dataType) for one in table if one.name != "_run"
    ]
