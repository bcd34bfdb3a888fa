"""Few values that differ from all others do not decide a draft; they are reported with their number."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.spark.profile.drafts import Text, drafted, fields_of, guessed, texts
from treaty.spark.profile import Inferred, TypeOrigin
from treaty.spark.profile.draft import collect_decisions
from treaty.spark.profile.term_guesses import find_misspellings

ROWS = 400


def _except(text: Text, exceptions: dict[int, str]) -> Text:
    return lambda row: exceptions.get(row, text(row))


COLUMNS: dict[str, Text] = {
    "invoice_number": _except(lambda row: f"INV-{row:05d}", {3: "INV-00004", 9: "to be done"}),
    "day": _except(lambda row: f"2026-01-{row % 28 + 1:02d}", {5: "2026-13-45"}),
    "due": _except(lambda row: f"{row % 28 + 1:02d}.01.2026", {6: "soon"}),
    "net_amount": _except(lambda row: f"{row}.50", {7: "n/a", 8: "n/a", 11: "-"}),
    "quantity": _except(lambda row: str(row % 7 + 1), {12: "0"}),
    "currency": _except(lambda row: ("EUR", "USD")[row % 2], {13: "eur"}),
    "status": _except(lambda row: ("PAID", "OPEN")[row % 2], {14: "PAYED", 15: "?"}),
    "refund": lambda row: str(row - 2),
    "email": _except(lambda row: f"billing{row}@shop.example", {16: "secret"}),
    "postal_code": _except(lambda row: f"{row * 7:05d}", {17: "D-1234"}),
    "clean": lambda row: str(row % 3 - 1),
}
EXPECTED = {
    ("invoice_number", "pattern"): (
        "99.7 % of 400 values have this shape; 1 does not: 'to be done' (1); 1 row is quarantined under this draft"
    ),
    ("invoice_number", "primaryKey"): (
        "it identifies 99.5 % of 400 rows; 2 rows share 1 value; 2 rows are quarantined under this draft"
    ),
    ("day", "logicalType"): (
        "99.7 % of 400 values are ISO 8601 dates; 1 is not: '2026-13-45' (1); 1 row is quarantined under this draft"
    ),
    ("due", "logicalType"): (
        "99.7 % of 400 values are written like dd.MM.yyyy; 1 is not: 'soon' (1); 1 row is quarantined under this draft"
    ),
    ("net_amount", "logicalType"): (
        "99.2 % of 400 values are decimals with up to 3 digits before and 2 after the point; 3 are not: 'n/a' (2), "
        "'-' (1); 3 rows are quarantined under this draft"
    ),
    ("quantity", "range"): (
        "99.7 % of 400 numbers fit a count from one; 1 does not; all range from 0 to 7; "
        "1 row is quarantined under this draft"
    ),
    ("currency", "enum"): (
        "2 distinct values in 400; left out: 'eur' (1), similar to EUR; 1 row is quarantined under this draft"
    ),
    ("status", "enum"): (
        "2 distinct values in 400; left out: '?' (1), 'PAYED' (1), similar to PAID; "
        "2 rows are quarantined under this draft"
    ),
    ("postal_code", "pattern"): (
        "99.7 % of 400 values have this shape; 1 does not: 'D-1234' (1); 1 row is quarantined under this draft"
    ),
    ("email", "format"): "99.7 % of 400 values have this format; 1 does not; 1 row is quarantined under this draft",
}


@pytest.fixture(scope="module")
def inferred(spark: SparkSession) -> Inferred:
    """Draft all the columns at once."""
    return drafted(texts(spark, COLUMNS, ROWS), name="invoices", typing=TypeOrigin.NONE)


def test_near_misses_are_reported_with_their_number(inferred: Inferred) -> None:
    assert {(miss.field, miss.term): miss.evidence for miss in inferred.near_misses} == EXPECTED
    assert inferred.quarantined == 14


def test_few_negative_numbers_are_a_note_and_no_rule(inferred: Inferred) -> None:
    field = fields_of(inferred.contract)["refund"]

    assert field["logicalTypeOptions"] == {"format": "i32"}
    assert guessed(field)["range"] == (
        "low: no minimum, although only 2 of 400 numbers are below 0; add `minimum: 0` if they are wrong"
    )


def test_a_contradicted_guess_has_no_high_confidence(inferred: Inferred) -> None:
    fields = fields_of(inferred.contract)

    assert {guessed(fields[name])[term].partition(":")[0] for name, term in EXPECTED} == {"low", "medium"}


def test_what_to_decide_begins_with_the_near_misses(inferred: Inferred) -> None:
    decisions = collect_decisions(inferred)

    assert decisions[0].startswith("invoice_number: correct the data, or change the pattern? 99.7 % of 400 values")
    assert decisions[-1] == "to do: describe the purpose, the owner and the meaning of 11 fields"


def test_malformed_rows_decide_nothing(spark: SparkSession) -> None:
    torn = {3, 5}
    columns: dict[str, Text] = {
        "event_id": lambda row: None if row in torn or row == 9 else f"E-{row:04d}",
        "amount": lambda row: None if row in torn else str(row),
        "_corrupt_record": lambda row: "{torn" if row in torn else None,
    }

    inferred = drafted(texts(spark, columns, ROWS), name="events", typing=TypeOrigin.NONE)

    fields = fields_of(inferred.contract)
    assert fields["amount"]["required"] is True
    assert guessed(fields["amount"])["required"] == "medium: 0 nulls in 398 rows"
    assert guessed(fields["event_id"])["required"] == (
        "low: a key must have a value; 1 row has none; 1 row is quarantined under this draft"
    )
    assert (inferred.profile.rows, inferred.profile.malformed, inferred.quarantined) == (398, 2, 3)
    assert collect_decisions(inferred)[:2] == (
        "event_id: correct the data, or choose another key? a key must have a value; 1 row has none; "
        "1 row is quarantined under this draft",
        "malformed: 2 rows could not be read; treaty test quarantines such rows",
    )


MISSPELT = [
    ({"EUR": 900, "eur": 3}, {"eur": "EUR"}),
    ({"PAID": 900, "OPEN": 90, "PAYED": 7}, {"PAYED": "PAID"}),
    ({"shipped": 900, " shipped ": 2, "shiped": 5}, {" shipped ": "shipped", "shiped": "shipped"}),
    ({"DE": 900, "DK": 4}, {}),
    ({"EUR": 50, "eur": 50}, {}),
    ({"small": 100, "large": 100, "n/a": 3}, {"n/a": ""}),
]


@pytest.mark.parametrize(("counts", "misspelt"), MISSPELT)
def test_rare_spellings_of_frequent_values(counts: dict[str, int], misspelt: dict[str, str]) -> None:
    assert find_misspellings(counts) == misspelt
