"""Personal data is detected by names and values, and its values are never written."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.spark.profile.drafts import ROWS, Text, drafted, fields_of, guessed, texts
from treaty.contracts import document_of
from treaty.contracts.text.writer import write_json
from treaty.spark.profile import TypeOrigin
from treaty.spark.profile.draft import collect_advice

IBANS = ("GB82WEST12345698765432", "DE89 3704 0044 0532 0130 00", "FR1420041010050500013M02606")
CARDS = ("4111111111111111", "5500 0000 0000 0004", "6011-0000-0000-0004")
SECRETS: dict[str, Text] = {
    "customer_email": lambda row: f"secret{row}@mail.example",
    "reach": lambda row: f"+49 30 {9_000_000 + row}",
    "payee": lambda row: IBANS[row % 3],
    "paid_with": lambda row: CARDS[row % 3],
    "came_from": lambda row: f"10.20.30.{row}",
    "first_name": lambda row: ("Secretia", "Secretius")[row % 2],
    "bsn": lambda row: f"{111222000 + row}",
    "remark": lambda row: f"ask secret{row}@mail.example" if row % 50 == 0 else "none",
}
EVIDENCE = {
    "customer_email": f"medium: its name suggests it; {ROWS} of {ROWS} values contain an email address",
    "reach": f"medium: {ROWS} of {ROWS} values contain a phone number with a country code",
    "payee": f"medium: {ROWS} of {ROWS} values contain an IBAN with valid check digits",
    "paid_with": f"medium: {ROWS} of {ROWS} values contain a card number with a valid check digit",
    "came_from": f"medium: {ROWS} of {ROWS} values contain an IP address",
    "first_name": "medium: its name suggests it",
    "bsn": "medium: its name suggests it",
    "remark": f"medium: 3 of {ROWS} values contain an email address",
}
HARMLESS: dict[str, Text] = {
    "account": lambda row: f"GB82WEST1234569876{row:04d}",
    "tracking": lambda row: f"{4 * 10**15 + row * 7}",
    "release": lambda row: f"{row}.0.1",
    "product_name": lambda row: f"chair {row}",
    "difference": lambda row: f"+{row}",
}


def test_personal_data_is_restricted_and_its_values_are_not_in_the_draft(spark: SparkSession) -> None:
    inferred = drafted(texts(spark, SECRETS), typing=TypeOrigin.NONE)

    fields = fields_of(inferred.contract)
    written = write_json(document_of(inferred.contract)) + str(collect_advice(inferred.contract, inferred.profile))
    assert {name: guessed(field)["classification"] for name, field in fields.items()} == EVIDENCE
    assert {field["classification"] for field in fields.values()} == {"restricted"}
    for text in SECRETS.values():
        assert not any(str(text(row)) in written for row in range(ROWS) if text(row) != "none")
    for start in ("GB82", "4111", "10.20", "Secret", "secret", "+49"):
        assert start not in written


def test_similar_values_are_not_personal_data(spark: SparkSession) -> None:
    fields = fields_of(drafted(texts(spark, HARMLESS), typing=TypeOrigin.NONE).contract)

    assert [name for name, field in fields.items() if "classification" in field] == []


@pytest.mark.parametrize("kind", ["bigint", "decimal(16,0)"])
def test_card_numbers_stored_as_numbers_are_detected(spark: SparkSession, kind: str) -> None:
    frame = spark.range(ROWS).selectExpr(f"cast(4111111111111111 as {kind}) AS paid_with")

    assert fields_of(drafted(frame).contract)["paid_with"]["classification"] == "restricted"


def test_personal_data_in_lists_and_objects_is_detected(spark: SparkSession) -> None:
    frame = spark.range(ROWS).selectExpr(
        "array(concat('a', id, '@mail.example')) AS reached_by", "named_struct('surname', 'x', 'n', id) AS who"
    )

    fields = fields_of(drafted(frame).contract)

    assert fields["reached_by"]["items"]["classification"] == "restricted"
    assert [part.get("classification") for part in fields["who"]["properties"]] == ["restricted", None]
