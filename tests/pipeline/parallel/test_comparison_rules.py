"""How two values are compared: tolerances, codes, types, and the effect of a difference on money."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Finding
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed, LegacyTable, Tolerance
from treaty.pipeline.parallel.comparison_run import compare
from treaty.spark.schema import select_object

DAY = date(2026, 3, 2)
LEGACY_SCHEMA = (
    "no string, day string, state string, net string, weight double, booked_at string, sent_on string, buyer string"
)
FEED = LegacyFeed(
    name="mart",
    origin=LegacyTable("mart"),
    key=("no",),
    period="day",
    owner="Finance Systems",
    comparison=Comparison(
        publication="sale",
        columns=(
            ColumnRule("no", "id"),
            ColumnRule("day", "day"),
            ColumnRule("state", "status", codes={"S": "sold", "R": "refunded"}),
            ColumnRule("net", "net", Tolerance(absolute=0.01)),
            ColumnRule("weight", "weight", Tolerance(relative=0.01)),
            ColumnRule("booked_at", "booked_at", Tolerance(seconds=3_600)),
            ColumnRule("sent_on", "sent_on", Tolerance(seconds=86_400), format="dd.MM.yyyy"),
            ColumnRule("buyer", "buyer"),
        ),
        late_days=1,
        money=("net",),
        patterns=("state",),
        totals=("state", "day"),
    ),
)
SAME = ("2026-03-01", "S", "10.00", 100.0, "2026-03-01T10:00:00Z", "01.03.2026", "Ida")
LEGACY_ROWS = {
    "same": [SAME],
    "cent": [(*SAME[:2], "10.01", *SAME[3:])],
    "two_cents": [(*SAME[:2], "10.02", *SAME[3:])],
    "one_percent": [(*SAME[:3], 101.0, *SAME[4:])],
    "two_percent": [(*SAME[:3], 102.1, *SAME[4:])],
    "one_hour": [(*SAME[:4], "2026-03-01T11:00:00Z", *SAME[5:])],
    "two_hours": [(*SAME[:4], "2026-03-01T12:00:00Z", *SAME[5:])],
    "one_day": [(*SAME[:5], "02.03.2026", SAME[6])],
    "two_days": [(*SAME[:5], "03.03.2026", SAME[6])],
    "refunded": [(SAME[0], "R", *SAME[2:])],
    "unknown_code": [(SAME[0], "X", *SAME[2:])],
    "no_number": [(*SAME[:2], "ten", *SAME[3:])],
    "other_buyer": [(*SAME[:6], "Jon")],
    "twice": [SAME, SAME],
    "twice_and_missing": [SAME, SAME],
    "next_day": [("2026-03-02", *SAME[1:])],
}
NEW_KEYS = [key for key in LEGACY_ROWS if key != "twice_and_missing"]
CONTRACT = contract(
    {
        "id": "shop.sale",
        "fields": [
            {"name": "id", "logicalType": "string", "primaryKey": True},
            {"name": "buyer", "logicalType": "string", "classification": "restricted"},
        ],
    }
)


@pytest.fixture(scope="module")
def result(spark: SparkSession) -> ComparisonResult:
    legacy = [(key, *row) for key, rows in LEGACY_ROWS.items() for row in rows]
    keys = spark.createDataFrame([(key,) for key in NEW_KEYS], "id string")
    frame = keys.selectExpr(
        "id",
        "DATE '2026-03-01' AS day",
        "'sold' AS status",
        "CAST(10 AS DECIMAL(12, 2)) AS net",
        "100D AS weight",
        "TIMESTAMP '2026-03-01T10:00:00Z' AS booked_at",
        "DATE '2026-03-01' AS sent_on",
        "'Ida' AS buyer",
    )
    return compare(spark.createDataFrame(legacy, LEGACY_SCHEMA), frame, FEED, select_object(CONTRACT), DAY)


def found(result: ComparisonResult, key: str) -> list[Finding]:
    return [one for one in result.findings if any(example.key == key for example in one.examples)]


WITHIN = ["same", "cent", "one_percent", "one_hour", "one_day"]
BEYOND = {
    "two_cents": ("value", "net", "higher in legacy", "-0.02"),
    "two_percent": ("value", "weight", "higher in legacy", "0.00"),
    "two_hours": ("value", "booked_at", "higher in legacy", "0.00"),
    "two_days": ("value", "sent_on", "higher in legacy", "0.00"),
    "refunded": ("status", "state", "R means refunded, new has sold", "0.00"),
    "unknown_code": ("status", "state", "X means X, new has sold", "0.00"),
    "no_number": ("value", "net", "empty in legacy", "10.00"),
    "other_buyer": ("value", "buyer", "differs", "0.00"),
    "next_day": ("late", "day", "booked later in legacy", "0.00"),
}


@pytest.mark.parametrize("key", WITHIN)
def test_what_is_within_its_tolerance_is_no_difference(result: ComparisonResult, key: str) -> None:
    assert found(result, key) == []


@pytest.mark.parametrize("key", BEYOND)
def test_what_is_beyond_its_tolerance_is_one_difference(result: ComparisonResult, key: str) -> None:
    (finding,) = found(result, key)

    class_, column, pattern, effect = BEYOND[key]
    assert (finding.difference_class.value, finding.column, finding.pattern) == (class_, column, pattern)
    assert finding.effects["net"] == Decimal(effect)


def test_a_repeated_row_counts_once_in_each_of_its_classes(result: ComparisonResult) -> None:
    """The second row of a key is the surplus; the first is missing in the publication."""
    by_class = {one.difference_class: one for one in found(result, "twice_and_missing")}

    assert by_class[DifferenceClass.DUPLICATE_IN_LEGACY].effects["net"] == Decimal("-20.00")
    assert by_class[DifferenceClass.DUPLICATE_IN_LEGACY].count == 2
    assert by_class[DifferenceClass.MISSING_IN_NEW].effects["net"] == Decimal("-10.00")


def test_a_row_that_is_booked_on_another_day_moves_its_amount_between_the_totals(result: ComparisonResult) -> None:
    totals = {total.group: total.effects["net"] for total in result.totals}

    assert totals == {
        ("X", "2026-03-01"): Decimal("-10.00"),
        ("refunded", "2026-03-01"): Decimal("-10.00"),
        ("sold", "2026-03-01"): Decimal("9.98"),
        ("sold", "2026-03-02"): Decimal("-10.00"),
    }


def test_effects_and_totals_both_give_the_difference_of_the_sums(result: ComparisonResult) -> None:
    """But for the cent that is within its tolerance."""
    difference = result.new_sums["net"] - result.legacy_sums["net"] + Decimal("0.01")

    assert sum((one.effects["net"] for one in result.findings), Decimal(0)) == difference
    assert sum((total.effects["net"] for total in result.totals), Decimal(0)) == difference


def test_values_of_classified_columns_are_masked(result: ComparisonResult) -> None:
    (finding,) = found(result, "other_buyer")

    assert [(one.legacy, one.new) for one in finding.examples] == [("***", "***")]
