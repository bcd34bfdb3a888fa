"""The short form as library models."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from tests.strategies import Document, short_documents
from treaty.contracts import contract_from
from treaty.contracts.short_form_models import DataContract, DataField, FreshnessSLA, Owner

FIELDS = [
    DataField(name="user_id", type="string"),
    DataField(name="active_date", type="timestamp"),
    DataField(name="plan", type="string", enum=["free", "pro", "enterprise"]),
    DataField(name="ltv", type="number", required=False),
]


def _contract(**keys: Any) -> DataContract:
    given = {
        "dataset_id": "users.daily_active",
        "version": "1.0.0",
        "owners": [Owner(team="growth-platform", contact="#growth-platform")],
        "fields": FIELDS,
    }
    return DataContract(**{**given, **keys})


def test_a_model_is_converted_to_the_contract_of_its_document() -> None:
    model = _contract(primary_key=["user_id", "active_date"], freshness_sla=FreshnessSLA(max_lag_seconds=60))

    assert model.to_contract() == contract_from(model.as_document())
    assert model.to_contract().schema[0].primary_key == ("user_id", "active_date")


def test_a_model_is_restored_from_its_contract() -> None:
    model = _contract(status="deprecated", deprecation_uri="https://example.org", description="a")

    assert DataContract.from_contract(model.to_contract()) == model


def test_a_field_is_found_by_its_name() -> None:
    model = _contract()

    assert model.field("plan") == FIELDS[2]
    assert model.field("missing") is None


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({"version": "1.0"}, id="version"),
        pytest.param({"version": "1.0.0\n"}, id="version with a line break"),
        pytest.param({"owners": []}, id="no owners"),
        pytest.param({"fields": []}, id="no fields"),
        pytest.param({"primary_key": ["missing"]}, id="key that is no field"),
        pytest.param({"fields": [FIELDS[0], FIELDS[0]]}, id="field given twice"),
        pytest.param({"status": "deprecated"}, id="deprecated without a plan"),
        pytest.param({"dataset_id": ""}, id="no id"),
        pytest.param({"dataset_id": "x" * 129}, id="long id"),
        pytest.param({"unknown": 1}, id="unknown key"),
    ],
)
def test_an_inconsistent_model_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _contract(**keys)


@given(short_documents().filter(lambda document: bool(document["owners"])))
def test_a_model_has_the_data_of_its_document(document: Document) -> None:
    known = {key: value for key, value in document.items() if key in DataContract.model_fields}
    model = DataContract.model_validate(known)

    assert model.to_contract() == contract_from(known)
