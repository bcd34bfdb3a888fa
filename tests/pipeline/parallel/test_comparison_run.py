"""A parallel run puts every seeded difference of a legacy mart into its class, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.parallel.legacy_mart import FEED, LEGACY_SCHEMA, NEW_SCHEMA, START, Mart, generate
from treaty.errors import InvalidDocument
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Finding
from treaty.legacy.feeds import ColumnRule, LegacyFeed
from treaty.pipeline.parallel.classified_rows import differing_rows, explode_differences
from treaty.pipeline.parallel.comparison_run import compare
from treaty.pipeline.parallel.paired_rows import pair_rows

LAST = START + timedelta(days=9)


@pytest.fixture(scope="module")
def mart() -> Mart:
    return generate()


def run(spark: SparkSession, mart: Mart, as_of: date = LAST, feed: LegacyFeed = FEED) -> ComparisonResult:
    legacy = spark.createDataFrame(mart.legacy, LEGACY_SCHEMA)
    new = spark.createDataFrame(mart.new, NEW_SCHEMA)
    return compare(legacy, new, feed, None, as_of)


@pytest.fixture(scope="module")
def result(spark: SparkSession, mart: Mart) -> ComparisonResult:
    return run(spark, mart)


def only(result: ComparisonResult, class_: DifferenceClass) -> Finding:
    (finding,) = [one for one in result.findings if one.difference_class is class_]
    return finding


def test_every_seeded_difference_is_reported_once_in_its_class(spark: SparkSession, mart: Mart) -> None:
    legacy = spark.createDataFrame(mart.legacy, LEGACY_SCHEMA)
    new = spark.createDataFrame(mart.new, NEW_SCHEMA)
    comparison = FEED.comparison
    assert comparison is not None
    paired = pair_rows(legacy, new, FEED, comparison)
    rows = explode_differences(differing_rows(paired, FEED), paired, FEED, comparison, LAST, frozenset()).collect()

    reported = {(row["key"], row["column"]): DifferenceClass(row["class"]) for row in rows}
    assert len(rows) == len(mart.ledger) == 272
    assert reported == mart.ledger


def test_differences_are_grouped_into_findings_with_their_effect_on_money(result: ComparisonResult) -> None:
    counts = {(one.difference_class.value, one.column, one.pattern): one.count for one in result.findings}

    assert counts == {
        ("schema", "job", "not in the publication"): 1,
        ("duplicate_in_legacy", "", "state S"): 40,
        ("identity", "", "legacy and new name different keys"): 40,
        ("status", "state", "S means RECOGNIZED, new has CANCELLED"): 40,
        ("value", "net", "lower in legacy"): 40,
        ("late", "booked_on", "booked later in legacy"): 32,
        ("missing_in_legacy", "", "state RECOGNIZED"): 32,
        ("missing_in_new", "", "state S"): 32,
        ("late", "", "not yet in legacy"): 8,
        ("late", "", "not yet in new"): 8,
    }
    assert (result.legacy_rows, result.new_rows) == (1000, 960)


def test_effects_add_up_to_the_difference_of_the_sums(result: ComparisonResult) -> None:
    """Rows within the tolerance are no difference, but a cent each in the sums."""
    effect = sum((one.effects.get("net", Decimal(0)) for one in result.findings), Decimal(0))

    assert effect == result.new_sums["net"] - result.legacy_sums["net"] + Decimal("0.40")
    assert sum((total.effects["net"] for total in result.totals), Decimal(0)) == effect
    assert {len(total.group) for total in result.totals} == {2}
    assert only(result, DifferenceClass.STATUS).effects["net"] == 0
    assert only(result, DifferenceClass.STATUS).involved["net"] > 0


def test_the_worst_examples_of_a_finding_come_first(result: ComparisonResult) -> None:
    finding = only(result, DifferenceClass.DUPLICATE_IN_LEGACY)

    assert len(finding.examples) == 5
    assert {(one.legacy, one.new) for one in finding.examples} == {("2 rows", "1 rows")}
    identity = only(result, DifferenceClass.IDENTITY).examples[0]
    assert (identity.key, identity.legacy, identity.new) == ("ORD-01-0009", "MKT010009", "ORD-01-0009")


def test_what_is_late_is_missing_when_its_window_has_closed(spark: SparkSession, mart: Mart) -> None:
    later = run(spark, mart, LAST + timedelta(days=2))

    counts = {(one.difference_class, one.pattern): one.count for one in later.findings}
    assert counts[DifferenceClass.MISSING_IN_LEGACY, "state RECOGNIZED"] == 40
    assert counts[DifferenceClass.MISSING_IN_NEW, "state S"] == 40
    assert (DifferenceClass.LATE, "not yet in legacy") not in counts


def test_a_day_without_rows_on_one_side_is_an_error(spark: SparkSession, mart: Mart) -> None:
    """Within `late_days`, a day may still come; afterwards, the comparison would be with an old state."""
    early = Mart(mart.legacy, [row for row in mart.new if row[1] < LAST - timedelta(days=2)])

    with pytest.raises(
        InvalidDocument, match=r"legacy_revenue has no row of 2026-03-14, its newest rows are of 2026-03-1"
    ):
        run(spark, mart, LAST + timedelta(days=4))
    with pytest.raises(InvalidDocument, match=r"finance_recognized_sale has no row of 2026-03-10.*treaty run"):
        run(spark, early)


def test_a_key_that_is_not_unique_in_the_publication_is_an_error(spark: SparkSession, mart: Mart) -> None:
    twice = Mart(mart.legacy, [*mart.new, mart.new[0]])

    with pytest.raises(InvalidDocument, match="has 2 rows of the key ORD-01-0000"):
        run(spark, twice)


def test_columns_and_periods_that_are_not_there_are_errors(spark: SparkSession, mart: Mart) -> None:
    assert FEED.comparison is not None
    wrong = replace(FEED.comparison, columns=(*FEED.comparison.columns, ColumnRule("vat", "vat_amount")))

    with pytest.raises(InvalidDocument, match="the legacy feed legacy_revenue has no column 'vat'"):
        run(spark, mart, feed=replace(FEED, comparison=wrong))
    with pytest.raises(InvalidDocument, match="has no row up to 2026-02-27"):
        run(spark, mart, date(2026, 2, 27))
