"""Properties of a reconciliation for any claims: one outcome per key, independent of order."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from tests.pipeline.layers.reconciliation.orders import contract_of
from tests.spark.property_settings import FEW_EXAMPLES
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line
from treaty.pipeline.layers.reconciliation import reconcile
from treaty.pipeline.project.declarations import Agreement, Assertion, Attribute, Claim, ReasonClass, Reconciliation

CONTRACT = contract_of(
    [
        {"name": "shop", "logicalType": "integer", "primaryKey": True, "primaryKeyPosition": 1},
        {"name": "day", "logicalType": "string", "primaryKey": True, "primaryKeyPosition": 2},
        {"name": "amount", "logicalType": "integer", "required": True, "logicalTypeOptions": {"maximum": 4}},
        {"name": "label", "logicalType": "string"},
        {"name": "total", "logicalType": "integer"},
    ]
)
DECLARED = Reconciliation(
    name="sales",
    line=Line("shop.sales", 1),
    claims=(Claim("till", "tills"), Claim("bank", "banks"), Claim("book", "books")),
    attributes=(
        Attribute("amount", ("till", "bank"), agreement=Agreement(1)),
        Attribute("label", ("book", "till"), FrozenMap({"till": "label"}), agreement=Agreement()),
        Attribute("total", derived="amount + coalesce(book.amount, 0)"),
    ),
    assertions=(Assertion("booked", "book.amount = amount", ReasonClass.CONFLICT),),
)
SCHEMA = "shop int, day string, amount int, label string"
ASSERTIONS = {"till", "bank", "book", "amount", "label", "booked", "contract"}

_rows = st.lists(
    st.tuples(
        st.sampled_from([*range(1, 6), None]),
        st.sampled_from(["mon", "tue", "wed", None]),
        st.one_of(st.none(), st.integers(0, 6)),
        st.sampled_from(["a", "b", None]),
    ),
    max_size=16,
)
_claims = st.fixed_dictionaries({"till": _rows, "bank": _rows, "book": _rows})
_some = st.sets(st.tuples(st.integers(1, 5), st.sampled_from(["mon", "tue", "wed"])), min_size=5)
FEW = settings(FEW_EXAMPLES, max_examples=3)
"""Keys are independent, so a few examples with many keys test as much as many examples with few."""
ClaimRowsByName = dict[str, list[tuple[Any, ...]]]


def _frames(spark: SparkSession, rows_by_claim: ClaimRowsByName) -> dict[str, DataFrame]:
    return {name: spark.createDataFrame(rows, SCHEMA) for name, rows in rows_by_claim.items()}


def _judged(claims: dict[str, DataFrame]) -> list[Any]:
    return reconcile(claims, None, DECLARED, CONTRACT).checked.collect()


def _keys(rows_by_claim: ClaimRowsByName) -> set[tuple[int, str]]:
    return {
        (row[0], row[1]) for rows in rows_by_claim.values() for row in rows if row[0] is not None and row[1] is not None
    }


@given(rows_by_claim=_claims)
@FEW
def test_each_key_has_one_outcome_and_each_assertion_at_most_one_exception(
    spark: SparkSession, rows_by_claim: ClaimRowsByName
) -> None:
    rows = _judged(_frames(spark, rows_by_claim))

    assert Counter((row["shop"], row["day"]) for row in rows) == Counter(_keys(rows_by_claim))
    for row in rows:
        exceptions = Counter(exception["assertion"] for exception in row["_exceptions"] or ())
        assert set(exceptions) <= ASSERTIONS
        assert set(exceptions.values()) <= {1}
        assert row["_outcome"] == ("held" if exceptions else "resolved")
        assert (row["amount"] is not None) == (row["_outcome"] == "resolved")
        rows_of_key = {
            name: [other for other in rows if other[:2] == (row["shop"], row["day"])]
            for name, rows in rows_by_claim.items()
        }
        assert {name for name, claim_rows in rows_of_key.items() if len(claim_rows) > 1} == set(exceptions) & set(
            rows_by_claim
        )
        if row["_outcome"] == "resolved":
            claimed = [
                claim_rows[0][2] for name in ("till", "bank") for claim_rows in [rows_of_key[name]] if claim_rows
            ]
            assert row["amount"] == next(value for value in claimed if value is not None) <= 4


@given(rows_by_claim=_claims, seed=st.randoms(use_true_random=False), some=_some)
@FEW
def test_result_does_not_depend_on_order_or_other_keys(
    spark: SparkSession, rows_by_claim: ClaimRowsByName, seed: Any, some: set[tuple[int, str]]
) -> None:
    part = {name: [row for row in rows if row[:2] in some] for name, rows in rows_by_claim.items()}
    mixed = {name: seed.sample(rows, len(rows)) for name, rows in part.items()}
    moved = {name: frame.repartition(3) for name, frame in _frames(spark, mixed).items()}

    full = [row for row in _judged(_frames(spark, rows_by_claim)) if (row["shop"], row["day"]) in some]

    assert sorted(map(repr, _judged(moved))) == sorted(map(repr, full))
