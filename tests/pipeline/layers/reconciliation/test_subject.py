"""Invalid reconciliations are refused with file and hint before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.layers.reconciliation.orders import CONTRACT, DECLARED, FIELDS, claims, contract_of
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.reconciliation import reconcile
from treaty.pipeline.project.declarations import (
    Agreement,
    Assertion,
    Attribute,
    Claim,
    ReasonClass,
    Reconciliation,
    Sql,
)

Change = Callable[[Reconciliation], Reconciliation]


def _attribute(which: str, **changes: Any) -> Change:
    def changed(declared: Reconciliation) -> Reconciliation:
        attributes = [replace(one, **changes) if one.name == which else one for one in declared.attributes]
        return replace(declared, attributes=tuple(attributes))

    return changed


def _holds(sql: str) -> Change:
    return lambda declared: replace(declared, assertions=(Assertion("sound", sql, ReasonClass.CONFLICT),))


def _claim(claim: Claim) -> Change:
    return lambda declared: replace(declared, claims=(claim, *declared.claims[1:]))


REFUSED: list[tuple[Change, str]] = [
    (_holds("gross > (SELECT 1)"), "an expression cannot contain a query"),
    (_holds("sum(gross) > 1"), "sum is an aggregate function"),
    (_holds("row_number() OVER (ORDER BY gross) = 1"), "an expression cannot contain a window function"),
    (_holds("rand() < 0.5"), "rand gives a different value in every run"),
    (_holds("current_timestamp() > placed_at"), "current_timestamp gives the time of the run"),
    (_holds("gros > 1"), "there is no column gros; did you mean 'gross'?"),
    (_holds("order.nothing > 1"), "there is no column order.nothing"),
    (_holds("gross >"), "this cannot be parsed"),
    (_holds("gross + 1"), "sound must be a condition, but is decimal"),
    (_holds("gross > array(1)"), "sound"),
    (_attribute("variance", derived="paid - state"), "there is no column state"),  # it is settled later
    (_attribute("gross", columns={"order": "nett"}), "claim 'order' has no column 'nett' for gross"),
    (_attribute("gross", authority=("order", "payment"), columns={"payment": "email"}), "which cannot be compared"),
    (_attribute("currency", agreement=Agreement(0.5)), "currency is a text, which has no absolute tolerance"),
    (_attribute("placed_at", agreement=Agreement(0.5, True)), "which has no relative tolerance"),
    (_attribute("paid", default="none"), "the default of paid is 'none', but the field is decimal(12,2)"),
    (_attribute("gross", name="nett"), "has no field 'nett'"),
    (_attribute("gross", name="order_id"), "'order_id' is part of the key, which needs no attribute"),
    (
        lambda declared: replace(declared, attributes=declared.attributes[1:]),
        "requires 'currency', but no attribute provides",
    ),
    (
        lambda declared: replace(declared, assertions=(Assertion("payment", "true", ReasonClass.LATE),)),
        "'payment' is the name of both an assertion and a claim",
    ),
    (_claim(Claim("gross", "orders")), "'gross' is the name of both an attribute and a claim"),
    (_claim(Claim("order", "orders", Sql(Path("o.sql"), "SELECT gross FROM orders"))), "has no key column 'order_id'"),
    (
        _claim(Claim("order", "orders", Sql(Path("o.sql"), "SELECT 1 AS order_id, currency, gross FROM orders"))),
        "claim 'order' has the key column 'order_id' as int, not string; cast it in its sql",
    ),
]


@pytest.mark.parametrize(("change", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_invalid_reconciliation_is_refused_with_its_place(spark: SparkSession, change: Change, says: str) -> None:
    declared = change(DECLARED)
    rows = {one.name: frame for one, frame in zip(declared.claims, claims(spark).values(), strict=True)}

    with pytest.raises(InvalidDocument) as refused:
        reconcile(rows, None, declared, CONTRACT)

    assert says in str(refused.value)
    assert str(refused.value).startswith("reconciliations/commercial_order.yaml:1: ")


def test_contract_without_a_key_is_refused(spark: SparkSession) -> None:
    contract = contract_of([{**FIELDS[0], "primaryKey": False}, *FIELDS[1:]])

    with pytest.raises(InvalidDocument, match="has no primary key; a reconciliation needs one"):
        reconcile(claims(spark), None, DECLARED, contract)


def test_attribute_may_use_structs_and_the_key(spark: SparkSession) -> None:
    sql = Sql(Path("o.sql"), "SELECT *, named_struct('low', 1, 'high', 2) AS span FROM orders")
    declared = replace(
        DECLARED,
        claims=(Claim("order", "orders", sql), *DECLARED.claims[1:]),
        assertions=(Assertion("sound", "order.span.low < order.span.high AND order_id <> ''", ReasonClass.LATE),),
        attributes=tuple(
            Attribute("state", derived="if(exists(array(gross), g -> g > 0), 'paid', 'unpaid')")
            if one.name == "state"
            else one
            for one in DECLARED.attributes
        ),
    )

    found = reconcile(claims(spark), None, declared, CONTRACT)

    rows = {row["order_id"]: row for row in found.checked.collect()}
    assert rows["O1"]["state"] == "paid"
    assert "sound" not in {one["assertion"] for row in rows.values() for one in row["_exceptions"] or ()}
