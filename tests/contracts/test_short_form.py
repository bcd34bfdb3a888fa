"""The short form: a few keys that become the same model, and back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.comparing import as_json
from treaty.contracts import contract_from, document_of, load
from treaty.contracts.blocks import Delivery, Deprecation
from treaty.contracts.odcs import write_odcs
from treaty.contracts.owners import Owner
from treaty.contracts.short_form import write_short_form
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.errors import InvalidDocument

SMALL: dict[str, Any] = {
    "dataset_id": "users.daily_active",
    "version": "1.0.0",
    "owners": [{"team": "growth-platform", "contact": "#growth-platform"}],
    "fields": [{"name": "user_id", "type": "string"}],
}
FULL: dict[str, Any] = {
    **SMALL,
    "description": "who used it",
    "status": "deprecated",
    "deprecation_uri": "https://example.org/migrate",
    "freshness_sla": {"max_lag_seconds": 86_400, "measurement": "load_time"},
    "primary_key": ["active_date", "user_id"],
    "fields": [
        {"name": "user_id", "type": "string", "description": "who"},
        {"name": "active_date", "type": "timestamp"},
        {"name": "plan", "type": "string", "enum": ["free", "pro"], "deprecated": True},
        {"name": "visits", "type": "integer", "enum": [1, 2]},
        {"name": "ltv", "type": "number", "required": False},
        {"name": "active", "type": "boolean"},
        {"name": "raw", "type": "json", "required": False},
    ],
}


def test_the_short_form_becomes_the_model_of_odcs() -> None:
    contract = contract_from(FULL)
    strict = write_odcs(contract)

    assert (contract.id, contract.version, contract.status) == ("users.daily_active", "1.0.0", "deprecated")
    assert contract.owners == (Owner("growth-platform", "#growth-platform"),)
    assert contract.treaty.deprecation == Deprecation(migration_guide="https://example.org/migrate")
    assert strict["apiVersion"] == "v3.2.0"
    assert strict["description"] == {"purpose": "who used it"}
    assert strict["slaProperties"] == [{"property": "freshness", "value": 86_400, "unit": "s", "element": "load_time"}]
    (item,) = contract.schema
    assert item.name == "users.daily_active"
    assert item.primary_key == ("active_date", "user_id")
    assert [(field.name, str(field.type), field.required) for field in item.fields] == [
        ("user_id", "string", True),
        ("active_date", "timestamp", True),
        ("plan", "string", True),
        ("visits", "integer", True),
        ("ltv", "number", False),
        ("active", "boolean", True),
        ("raw", "json", False),
    ]
    assert [value["value"] for value in item.fields[2].enum or ()] == ["free", "pro"]
    assert item.fields[2].deprecated is True
    assert item.fields[0].description == "who"


@pytest.mark.parametrize("document", [SMALL, FULL], ids=["small", "full"])
def test_the_short_form_survives_yaml_and_json(document: dict[str, Any]) -> None:
    for text in (write_yaml(document), write_json(document)):
        written = document_of(load(text).contract)
        assert as_json(written) == as_json({"status": "draft", **document})


@pytest.mark.parametrize(
    "part",
    [
        pytest.param({"deprecation": {"sunset_date": "2026-06-30", "replacement": "users@2"}}, id="without a guide"),
        pytest.param({"deprecation": {"sunset_date": "2026-06-30", "migration_guide": "https://a"}}, id="with a guide"),
        pytest.param({"status": "deprecated", "deprecation": {"migration_guide": "https://a"}}, id="deprecated by it"),
    ],
)
def test_a_deprecation_block_in_the_short_form_survives(part: dict[str, Any]) -> None:
    contract = contract_from({**SMALL, **part})

    assert contract_from(document_of(contract)).treaty.deprecation == contract.treaty.deprecation


def test_a_deprecation_uri_and_a_deprecation_block_are_merged() -> None:
    contract = contract_from({**SMALL, "deprecation_uri": "https://a", "deprecation": {"sunset_date": "2026-06-30"}})
    expected = Deprecation(sunset_date="2026-06-30", migration_guide="https://a")

    assert contract.treaty.deprecation == expected
    assert contract_from(document_of(contract)).treaty.deprecation == expected


def test_two_guides_that_differ_are_refused() -> None:
    document = {**SMALL, "deprecation_uri": "https://a", "deprecation": {"migration_guide": "https://b"}}

    with pytest.raises(InvalidDocument, match="deprecation_uri"):
        contract_from(document)


def test_an_empty_list_of_owners_survives() -> None:
    document = {**SMALL, "owners": []}

    assert as_json(document_of(contract_from(document))) == as_json({"status": "draft", **document})


def test_a_lag_of_any_size_survives() -> None:
    document = {**SMALL, "freshness_sla": {"max_lag_seconds": 10**30 + 1}}

    assert document_of(contract_from(document))["freshness_sla"] == {"max_lag_seconds": 10**30 + 1}


def test_an_empty_measurement_survives() -> None:
    document = {**SMALL, "freshness_sla": {"max_lag_seconds": 60, "measurement": ""}}

    assert document_of(contract_from(document))["freshness_sla"] == {"max_lag_seconds": 60, "measurement": ""}


def test_the_short_form_accepts_extension_blocks() -> None:
    document = {**SMALL, "status": "active", "delivery": {"guarantee": "exactly_once"}, "tier": "product"}
    contract = contract_from(document)

    assert contract.treaty.delivery == Delivery("exactly_once")
    assert contract.treaty.tier == "product"
    assert as_json(document_of(contract)) == as_json(document)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        pytest.param({"version": "1.0"}, "is not a version", id="version"),
        pytest.param({"version": "1.0.0\n"}, "is not a version", id="version with a line break"),
        pytest.param({"dataset_id": " "}, "the text is empty", id="blank id"),
        pytest.param({"dataset_id": "x" * 129}, "dataset_id", id="long id"),
        pytest.param({"fields": []}, "fields", id="no fields"),
        pytest.param({"fields": [{"name": "a", "type": "text"}]}, "unknown type 'text'", id="unknown type"),
        pytest.param({"fields": [{"name": "a", "type": "json", "enum": ["a"]}]}, "enum", id="enum of json"),
        pytest.param({"fields": [{"name": "a", "type": "integer", "enum": [True]}]}, "enum", id="truths for integers"),
        pytest.param({"fields": [{"name": "a", "type": "string", "enum": ["a", "a"]}]}, "enum", id="enum given twice"),
        pytest.param({"fields": [{"name": "a", "type": "string", "enum": []}]}, "enum", id="empty enum"),
        pytest.param({"status": "proposed"}, "unknown status 'proposed'", id="unknown status"),
        pytest.param({"status": "deprecated"}, "needs a deprecation_uri", id="deprecated without a plan"),
        pytest.param({"status": "deprecated", "deprecation_uri": " "}, "needs a deprecation_uri", id="blank plan"),
        pytest.param(
            {"status": "deprecated", "deprecation": {"sunset_date": "2026-06-30"}},
            "needs a deprecation_uri",
            id="deprecated with a notice and no plan",
        ),
        pytest.param({"primary_key": ["missing"]}, "'missing' is not declared", id="key that is no field"),
        pytest.param({"primary_key": ["user_id", "user_id"]}, "primary_key", id="key given twice"),
        pytest.param({"freshness_sla": {"max_lag_seconds": 0}}, "freshness_sla", id="no lag"),
        pytest.param({"freshness_sla": {}}, "freshness_sla", id="empty freshness"),
        pytest.param({"owners": [{"team": ""}]}, "owners[0].team", id="nameless owner"),
        pytest.param({"apiversion": "v3.2.0"}, "unknown key 'apiversion'", id="unknown key"),
    ],
)
def test_what_the_short_form_does_not_allow_is_refused(part: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        contract_from({**SMALL, **part})

    assert says in str(caught.value)


def test_odcs_is_written_in_the_short_form_as_far_as_possible() -> None:
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "orders",
        "version": "2.1.0",
        "status": "active",
        "team": {"name": "checkout"},
        "support": [{"channel": "#checkout"}],
        "description": {"purpose": "every order"},
        "slaProperties": [{"property": "freshness", "value": 4, "unit": "h"}],
        "schema": [
            {
                "name": "orders",
                "properties": [
                    {"name": "id", "logicalType": "string", "primaryKey": True, "required": True},
                    {"name": "placed", "logicalType": "date"},
                    {"name": "customer", "logicalType": "object", "properties": []},
                ],
            }
        ],
    }

    assert write_short_form(contract_from(document)) == {
        "dataset_id": "orders",
        "version": "2.1.0",
        "status": "active",
        "description": "every order",
        "owners": [{"team": "checkout", "contact": "#checkout"}],
        "freshness_sla": {"max_lag_seconds": 14_400},
        "primary_key": ["id"],
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "placed", "type": "timestamp", "required": False},
            {"name": "customer", "type": "json", "required": False},
        ],
    }


HEAD = {"apiVersion": "v3.0.2", "kind": "DataContract", "id": "orders", "version": "1.0.0", "status": "active"}


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"property": "tier"}, id="without a value"),
        pytest.param({"property": "tier", "value": 5}, id="of another shape"),
        pytest.param({"property": "deprecation", "value": "soon"}, id="of another shape, a deprecation"),
        pytest.param({"value": "product"}, id="without a name"),
        pytest.param({"property": "ours", "value": "product"}, id="of another name"),
    ],
)
def test_another_custom_property_does_not_become_a_block(entry: dict[str, Any]) -> None:
    schema = [{"name": "orders", "properties": [{"name": "id", "logicalType": "string"}]}]
    written = write_short_form(contract_from({**HEAD, "schema": schema, "customProperties": [entry]}))

    assert set(written) == {"dataset_id", "version", "status", "owners", "fields"}
    assert contract_from(written).id == "orders"
