"""A guess that the data violates is dropped."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.profile.drafts import NOW, fields_of, guessed, terms_of
from treaty.contracts import contract_from
from treaty.spark import enforce
from treaty.spark.profile import Inferred, Profile
from treaty.spark.profile.guess_review import review_guesses

TEXT = {"logicalType": "string", "physicalType": "string"}
WRONG: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("required", {**TEXT, "required": True}, TEXT),
    ("enum", {**TEXT, "enum": [{"value": "a"}]}, TEXT),
    ("pattern", {**TEXT, "logicalTypeOptions": {"pattern": "^a$"}}, TEXT),
    ("length", {**TEXT, "logicalTypeOptions": {"minLength": 1, "maxLength": 1}}, TEXT),
    ("format", {**TEXT, "logicalTypeOptions": {"format": "uuid"}}, TEXT),
    ("primaryKey", {**TEXT, "primaryKey": True}, TEXT),
    ("logicalType", {"logicalType": "date", "physicalType": "date"}, TEXT),
    (
        "logicalType",
        {"logicalType": "object", "physicalType": "string", "properties": [{"name": "n", "logicalType": "string"}]},
        {"logicalType": "object", "physicalType": "json"},
    ),
]


@pytest.mark.parametrize(("term", "wrong", "right"), WRONG)
def test_a_guess_that_the_data_violates_is_dropped(
    spark: SparkSession, term: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    notes = [{"property": "guessed", "value": {term: "high: who knows", "other": "low: kept"}}]
    field = {"name": "f", "customProperties": notes, **wrong}
    schema = [{"name": "things", "properties": [field]}]
    contract = contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": "t",
            "version": "0.1.0",
            "status": "draft",
            "schema": schema,
        }
    )
    frame = spark.createDataFrame([("a",), ("bb",), ("bb",), (None,)], "f string")

    loosened = review_guesses(frame, Inferred(contract, Profile(frame.schema, 4, 0, ())), NOW).contract

    found = fields_of(loosened)["f"]
    assert terms_of(found) == right
    assert guessed(found).keys() == {"other", "dropped"}
    assert enforce(frame, loosened).measures(NOW).breaches == ()
