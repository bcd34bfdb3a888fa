"""Facts about claims that follow from contracts and SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.layers.reconciliation.orders import contract_of
from treaty.contracts.versions import Line
from treaty.pipeline.layers.reconciliation.claims import ClaimFacts, claim_facts
from treaty.pipeline.project.declarations import Claim, Reconciliation, Sql

_ORDER = {"name": "order_id", "logicalType": "string"}
_PAYMENT = {"name": "payment_id", "logicalType": "string"}
_MORE = [
    {"name": "amount", "logicalType": "integer"},
    {"name": "email", "logicalType": "string", "classification": "confidential"},
]
CONTRACT = contract_of([{**_ORDER, "primaryKey": True}])
PRODUCTS = {
    "orders": contract_of([{**_ORDER, "primaryKey": True}, *_MORE]),
    "payments": contract_of([_ORDER, {**_PAYMENT, "primaryKey": True}, *_MORE]),
}


def _known(product: str, sql: str | None) -> ClaimFacts:
    claim = Claim("claim", product, None if sql is None else Sql(Path("claim.sql"), sql))
    return claim_facts(Reconciliation("r", Line("r", 1), (claim,), ()), CONTRACT, PRODUCTS)


@pytest.mark.parametrize(
    ("product", "sql", "is_unique"),
    [
        ("orders", None, True),
        ("payments", None, False),
        ("payments", "SELECT order_id, sum(amount) AS amount FROM payments GROUP BY order_id", True),
        ("payments", "SELECT p.order_id, count(*) AS n FROM payments p WHERE amount > 0 GROUP BY 1", True),
        (
            "payments",
            "WITH p AS (SELECT * FROM payments) SELECT order_id, max(amount) m FROM p GROUP BY order_id",
            True,
        ),
        ("payments", "SELECT order_id, amount, count(*) AS n FROM payments GROUP BY order_id, amount", False),
        ("payments", "SELECT upper(order_id) AS order_id, count(*) AS n FROM payments GROUP BY order_id", False),
        ("payments", "SELECT order_id, amount FROM payments", False),
        ("payments", "SELECT order_id, sum(amount) AS n FROM payments GROUP BY ROLLUP (order_id)", False),
        ("payments", "SELECT order_id, explode(collect_set(amount)) AS n FROM payments GROUP BY order_id", False),
        ("orders", "SELECT order_id, explode(array(1, 2)) AS n FROM orders", False),
        ("payments", "SELECT order_id FROM nothing GROUP BY order_id", False),
    ],
)
def test_claim_is_unique_by_its_key_or_grouping(product: str, sql: str | None, is_unique: bool) -> None:
    assert ("claim" in _known(product, sql).unique) is is_unique


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        (None, {"email"}),
        ("SELECT order_id, max(email) AS contact, sum(amount) AS paid FROM payments GROUP BY order_id", {"contact"}),
        ("SELECT order_id, amount AS paid FROM payments", set()),
    ],
)
def test_classified_columns_are_followed_through_the_sql_of_a_claim(sql: str | None, hidden: set[str]) -> None:
    assert _known("payments", sql).classified["claim"] - {"email"} == hidden - {"email"}
    assert "email" in _known("payments", sql).classified["claim"]
