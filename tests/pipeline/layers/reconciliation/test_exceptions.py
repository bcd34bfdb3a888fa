"""Exceptions: an acceptance applies while the claims do not change; the history has first and last seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.layers.reconciliation.orders import CLAIM_ROWS, CONTRACT, DECLARED, FIELDS, claims, contract_of
from treaty.pipeline.layers.reconciliation import Reconciled, acceptance_columns, reconcile, update_exceptions


def _accepted(spark: SparkSession, exceptions: DataFrame, *given: tuple[str, datetime]) -> DataFrame:
    """Return acceptances of every exception."""
    rows = [
        (row["order_id"], row["assertion"], row["claims_digest"], f"{actor} knows", actor, at, 1)
        for row in exceptions.collect()
        for actor, at in given
    ]
    return spark.createDataFrame(rows, acceptance_columns(CONTRACT))


def _with(
    rows_by_claim: Mapping[str, tuple[str, ...]], claim: str, before: str, after: str
) -> dict[str, tuple[str, ...]]:
    """Replace one row of a claim."""
    assert before in rows_by_claim[claim]
    return {**rows_by_claim, claim: tuple(after if row == before else row for row in rows_by_claim[claim])}


def _judged(reconciled: Reconciled) -> dict[str, Row]:
    return {row["order_id"]: row for row in reconciled.checked.collect()}


def _states(judged: dict[str, Row]) -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
    return {
        (key, exception["assertion"]): (exception["state"], exception["accepted_by"], exception["accepted_reason"])
        for key, row in judged.items()
        for exception in row["_exceptions"] or ()
    }


def test_acceptance_resolves_a_key_until_the_claims_change(spark: SparkSession) -> None:
    before = reconcile(claims(spark), None, DECLARED, CONTRACT).exceptions
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (2, 3)]
    acceptances = _accepted(spark, before, ("bo", days[1]), ("ada", days[0]))

    after = _judged(reconcile(claims(spark), acceptances, DECLARED, CONTRACT))

    by_ada, still_open = ("accepted", "ada", "ada knows"), ("open", None, None)
    assert _states(after) == {
        ("O2", "currency"): by_ada,
        ("O3", "gross"): still_open,  # a missing required value cannot be accepted
        ("O3", "variance"): still_open,
        ("O4", "email"): by_ada,
        ("O4", "money_matches"): by_ada,
        ("O4", "contract"): still_open,  # after acceptance, its state is not in the enum of the contract
        ("O6", "shipment"): by_ada,
        ("O7", "shipped_after_order"): by_ada,
        ("O9", "placed_at"): by_ada,
        ("X8", "contract"): still_open,  # a violation of the contract cannot be accepted
    }
    assert {key for key, row in after.items() if row["_outcome"] == "held"} == {"O3", "O4", "X8"}
    assert [(after[key]["currency"], after[key]["weight"]) for key in ("O2", "O6")] == [("EUR", None), ("EUR", 1.0)]

    other_rate = _with(CLAIM_ROWS, "payment", "'O2', 'USD', 10.00, null", "'O2', 'GBP', 10.00, null")
    third_shipment = {**other_rate, "shipment": (*other_rate["shipment"], CLAIM_ROWS["shipment"][2])}
    states = _states(_judged(reconcile(claims(spark, third_shipment), acceptances, DECLARED, CONTRACT)))

    assert states["O2", "currency"] == still_open
    assert states["O6", "shipment"] == still_open
    assert states["O9", "placed_at"] == by_ada


def test_changed_masked_claim_ends_an_acceptance(spark: SparkSession) -> None:
    only_email = replace(DECLARED, assertions=(), attributes=tuple(a for a in DECLARED.attributes if a.name != "state"))
    contract = contract_of([field for field in FIELDS if field["name"] != "state"])

    def digest(rows_by_claim: dict[str, tuple[str, ...]]) -> tuple[str, str]:
        exceptions = reconcile(claims(spark, rows_by_claim), None, only_email, contract).exceptions
        row = exceptions.where("order_id = 'O4' AND assertion = 'email'").collect()[0]
        return row["claims"], row["claims_digest"]

    before = digest(dict(CLAIM_ROWS))
    after = digest(_with(CLAIM_ROWS, "payment", "'O4', 'EUR', 9.94, 'b@x.example'", "'O4', 'EUR', 9.94, 'c@x.example'"))

    assert before[0] == after[0]
    assert before[1] != after[1]


def _day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC).replace(tzinfo=None)


def test_first_seen_is_kept_and_missing_exceptions_are_resolved_once(any_spark: SparkSession) -> None:
    spark = any_spark
    before = spark.sql(
        """SELECT k, assertion, 'conflict' reason_class, 'old' statement, '{}' claims, 'd0' claims_digest, 'a' owner,
        state, by accepted_by, by accepted_reason, cast(f as timestamp) first_seen, cast(l as timestamp) last_seen,
        run _run
        FROM VALUES
          ('stays', 'x', 'open', null, '2026-03-01', '2026-03-02', 2L),
          ('goes', 'x', 'open', null, '2026-03-01', '2026-03-02', 2L),
          ('went', 'x', 'resolved', null, '2026-03-01', '2026-03-01', 2L),
          ('returns', 'x', 'resolved', null, '2026-03-01', '2026-03-01', 2L),
          ('lapses', 'x', 'accepted', 'ada', '2026-03-01', '2026-03-02', 2L),
          ('vanishes', 'x', 'accepted', 'ada', '2026-03-01', '2026-03-02', 2L),
          ('elsewhere', 'x', 'open', null, '2026-03-01', '2026-03-02', 2L)
          AS t(k, assertion, state, by, f, l, run)"""
    )
    exceptions = spark.sql(
        """SELECT k, assertion, 'late' reason_class, 'new' statement, '{}' claims, 'd1' claims_digest, 'b' owner,
        'open' state, cast(null as string) accepted_by, cast(null as string) accepted_reason
        FROM VALUES ('stays', 'x'), ('stays', 'y'), ('returns', 'x'), ('lapses', 'x'), ('comes', 'x')
          AS t(k, assertion)"""
    )
    keys = spark.sql(
        "SELECT * FROM VALUES ('stays'), ('goes'), ('went'), ('returns'), ('lapses'), ('vanishes'), ('comes') AS t(k)"
    )

    rows = update_exceptions(exceptions, before, keys, F.lit("2026-03-09").cast("timestamp"), 9)

    assert rows.columns == before.columns
    assert {
        (row["k"], row["assertion"]): (
            row["state"],
            row["first_seen"],
            row["last_seen"],
            row["_run"],
            row["statement"],
            row["accepted_by"],
        )
        for row in rows.collect()
    } == {
        ("stays", "x"): ("open", _day(1), _day(9), 9, "new", None),
        ("stays", "y"): ("open", _day(9), _day(9), 9, "new", None),
        ("goes", "x"): ("resolved", _day(1), _day(2), 9, "old", None),
        ("went", "x"): ("resolved", _day(1), _day(1), 2, "old", None),
        ("returns", "x"): ("open", _day(1), _day(9), 9, "new", None),
        ("lapses", "x"): ("open", _day(1), _day(9), 9, "new", None),
        ("vanishes", "x"): ("resolved", _day(1), _day(2), 9, "old", "ada"),
        ("comes", "x"): ("open", _day(9), _day(9), 9, "new", None),
    }
