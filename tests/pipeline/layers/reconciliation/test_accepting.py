"""An accepted exception lets its key resolve by authority's word, for as long as the claims stay as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.layers.reconciliation.orders import CONTRACT, DECLARED, FIELDS, SAID, claims, contract_of
from treaty.pipeline.layers.reconciliation import Reconciled, acceptance_columns, reconcile


def _accepted(found: DataFrame, at: str, by: str) -> DataFrame:
    """Accept every exception that is found."""
    given = found.select(
        "*",
        F.lit(f"{by} knows").alias("reason"),
        F.lit(by).alias("actor"),
        F.lit(at).cast("timestamp").alias("accepted_at"),
        F.lit(1).cast("long").alias("_run"),
    )
    return given.select(*acceptance_columns(CONTRACT).names)


def _with(said: Mapping[str, tuple[str, ...]], claim: str, before: str, after: str) -> dict[str, tuple[str, ...]]:
    """Let a claim say something else in one row."""
    assert before in said[claim]
    return {**said, claim: tuple(after if row == before else row for row in said[claim])}


def _outcomes(reconciled: Reconciled) -> dict[str, str]:
    return {row["order_id"]: row["_outcome"] for row in reconciled.resolved.collect()}


def _states(reconciled: Reconciled) -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
    return {
        (row["order_id"], row["assertion"]): (row["state"], row["accepted_by"], row["accepted_reason"])
        for row in reconciled.exceptions.collect()
    }


def test_what_is_accepted_resolves_and_stays_listed_until_the_claims_change(spark: SparkSession) -> None:
    before = reconcile(claims(spark), None, DECLARED, CONTRACT).exceptions
    given = _accepted(before, "2026-03-03", "bo").union(_accepted(before, "2026-03-02", "ada"))
    spark.createDataFrame(given.collect(), given.schema).createOrReplaceTempView("accepted_orders")
    acceptances = spark.table("accepted_orders")

    after = reconcile(claims(spark), acceptances, DECLARED, CONTRACT)

    by_ada, still_open = ("accepted", "ada", "ada knows"), ("open", None, None)
    assert _states(after) == {
        ("O2", "currency"): by_ada,
        ("O3", "gross"): still_open,  # nobody can accept that a required value is missing
        ("O3", "variance"): still_open,
        ("O4", "email"): by_ada,
        ("O4", "money_matches"): by_ada,
        ("O4", "contract"): ("open", None, None),  # what was accepted breaks the contract: odd is no state
        ("O6", "shipment"): by_ada,
        ("O7", "shipped_after_order"): by_ada,
        ("O9", "placed_at"): by_ada,
        ("X8", "contract"): still_open,  # nor that a row breaks its contract
    }
    held = {key for key, outcome in _outcomes(after).items() if outcome == "held"}
    assert held == {"O3", "O4", "X8"}
    settled = {row["order_id"]: (row["currency"], row["weight"]) for row in after.resolved.collect()}
    assert (settled["O2"], settled["O6"]) == (("EUR", None), ("EUR", 1.0))

    other_rate = _with(SAID, "payment", "'O2', 'USD', 10.00, null", "'O2', 'GBP', 10.00, null")
    third_shipment = {**other_rate, "shipment": (*other_rate["shipment"], SAID["shipment"][2])}
    changed = reconcile(claims(spark, third_shipment), acceptances, DECLARED, CONTRACT)
    states = _states(changed)

    assert states["O2", "currency"] == still_open
    assert states["O6", "shipment"] == still_open
    assert states["O9", "placed_at"] == by_ada
    spark.catalog.dropTempView("accepted_orders")


def test_a_masked_claim_that_changes_ends_an_acceptance(spark: SparkSession) -> None:
    only_email = replace(DECLARED, assertions=(), attributes=tuple(a for a in DECLARED.attributes if a.name != "state"))
    contract = contract_of([field for field in FIELDS if field["name"] != "state"])

    def digest(said: dict[str, tuple[str, ...]]) -> tuple[str, str]:
        found = reconcile(claims(spark, said), None, only_email, contract).exceptions
        row = found.where("order_id = 'O4' AND assertion = 'email'").collect()[0]
        return row["claims"], row["claims_digest"]

    before = digest(dict(SAID))
    after = digest(_with(SAID, "payment", "'O4', 'EUR', 9.94, 'b@x.example'", "'O4', 'EUR', 9.94, 'c@x.example'"))

    assert before[0] == after[0]
    assert before[1] != after[1]
