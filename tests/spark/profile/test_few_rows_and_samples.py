"""Drafts from few rows, samples, malformed rows and no rows."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.spark.profile.drafts import NOW, Text, drafted, fields_of, guessed, terms_of, texts
from treaty.contracts import document_of, load
from treaty.contracts.text.writer import write_yaml
from treaty.errors import InvalidDocument
from treaty.governance.lint import LintSettings, lint
from treaty.spark.profile import Sample, TypeOrigin, infer, parse_sample
from treaty.spark.profile.draft import collect_advice

COLUMNS: dict[str, Text] = {"order_id": lambda row: f"O{row:04d}", "status": lambda row: ("new", "old")[row % 2]}


def test_few_rows_give_few_guesses(spark: SparkSession) -> None:
    inferred = drafted(texts(spark, COLUMNS, rows=12), typing=TypeOrigin.NONE)

    status = fields_of(inferred.contract)["status"]
    assert terms_of(status) == {"logicalType": "string", "physicalType": "string"}
    assert guessed(status)["required"] == "low: 0 nulls, but 12 rows are too few: not marked as required"
    assert "12 rows are too few" in collect_advice(inferred.contract, inferred.profile)[0].message


def test_without_rows_only_names_and_types_are_drafted(spark: SparkSession) -> None:
    inferred = drafted(texts(spark, COLUMNS, rows=0))

    assert [terms_of(field) for field in fields_of(inferred.contract).values()] == [
        {"logicalType": "string", "physicalType": "string"}
    ] * 2
    assert "there are no rows" in collect_advice(inferred.contract, inferred.profile)[0].message


def test_data_without_columns_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InvalidDocument, match="no columns"):
        infer(spark.range(3).select(), "a", "b")


@pytest.mark.parametrize("columns", [("id AS a", "id AS a"), ("id AS _violations",)])
def test_column_names_that_a_contract_cannot_have_are_refused(spark: SparkSession, columns: tuple[str, ...]) -> None:
    with pytest.raises(InvalidDocument, match="rename"):
        infer(spark.range(3).selectExpr(*columns), "a", "b")


@pytest.mark.parametrize("sample", [Sample(percent=40), Sample(rows=300)])
def test_guesses_from_a_sample_have_low_confidence(any_spark: SparkSession, sample: Sample) -> None:
    inferred = drafted(texts(any_spark, COLUMNS, rows=1_000), typing=TypeOrigin.NONE, sample=sample)

    fields = fields_of(inferred.contract)
    assert 200 < inferred.profile.rows < 600
    assert {expected.partition(":")[0] for field in fields.values() for expected in guessed(field).values()} == {"low"}
    assert "the other rows were not examined" in guessed(fields["order_id"])["primaryKey"]
    assert collect_advice(inferred.contract, inferred.profile)[0].topic == "sample"
    assert f"{inferred.profile.rows:,} rows" in document_of(inferred.contract)["customProperties"][0]["value"]["from"]


SAMPLES = [("5%", Sample(percent=5)), ("0.5 %", Sample(percent=0.5)), ("100000", Sample(rows=100_000))]


@pytest.mark.parametrize(("text", "sample"), SAMPLES)
def test_a_sample_is_a_share_or_a_number_of_rows(text: str, sample: Sample) -> None:
    assert parse_sample(text) == sample


@pytest.mark.parametrize("text", ["", "0", "0%", "101%", "-5", "five", "1e3", "5%%"])
def test_an_invalid_sample_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match="is not a sample"):
        parse_sample(text)


def test_lint_reports_what_only_people_can_fill_in(spark: SparkSession) -> None:
    drafted_text = write_yaml(document_of(drafted(texts(spark, COLUMNS), typing=TypeOrigin.NONE).contract))

    found = [finding.id for finding in lint(load(drafted_text), LintSettings(), NOW.date()).findings]

    assert found.count("description-missing") == 2
    assert {"owner-unreachable", "freshness-missing"} <= set(found)
    assert "pii-unclassified" not in found


def test_malformed_rows_are_reported_and_not_drafted(spark: SparkSession) -> None:
    columns: dict[str, Text] = {**COLUMNS, "_corrupt_record": lambda row: "x" if row == 3 else None}

    inferred = drafted(texts(spark, columns), typing=TypeOrigin.NONE)

    assert list(fields_of(inferred.contract)) == ["order_id", "status"]
    assert "1 row could not be read" in collect_advice(inferred.contract, inferred.profile)[0].message
