"""What the model says of a contract and its fields."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given

from tests.documents import contract
from tests.strategies import Document, documents
from treaty.contracts import Form, contract_from
from treaty.contracts.model import locate_fields
from treaty.contracts.odcs import write_odcs

HEAD = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}


def _key(name: str, position: int | None = None) -> dict[str, Any]:
    field: dict[str, Any] = {"name": name, "logicalType": "string", "primaryKey": True}
    return field if position is None else {**field, "primaryKeyPosition": position}


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        pytest.param([], (), id="no fields"),
        pytest.param([{"name": "a", "logicalType": "string"}], (), id="no key"),
        pytest.param([{**_key("a"), "primaryKey": False}], (), id="said not to be a key"),
        pytest.param([_key("a")], ("a",), id="one"),
        pytest.param([_key("a"), _key("b")], ("a", "b"), id="in the order of the fields"),
        pytest.param([_key("a", 2), _key("b", 1)], ("b", "a"), id="by position"),
        pytest.param([_key("a", 3), _key("b", 1), _key("c", 2)], ("b", "c", "a"), id="by three positions"),
        pytest.param([_key("a"), _key("b", 1)], ("b", "a"), id="those with a position first"),
        pytest.param([_key("a", -1), _key("b", 1)], ("b", "a"), id="minus one is no position"),
        pytest.param([_key("a", -1), _key("b", -1)], ("a", "b"), id="no position at all"),
    ],
)
def test_the_primary_key_is_in_key_order(columns: list[dict[str, Any]], key: tuple[str, ...]) -> None:
    assert contract(columns).schema[0].primary_key == key


@pytest.mark.parametrize(
    ("keys", "required"),
    [
        ({}, False),
        ({"required": False}, False),
        ({"required": True}, True),
        ({"primaryKey": True}, True),
        ({"primaryKey": True, "required": False}, True),
        ({"primaryKey": False}, False),
        ({"unique": True}, False),
    ],
)
def test_a_field_is_required_if_declared_or_a_key(keys: dict[str, Any], required: bool) -> None:
    (field,) = contract([{"name": "a", "logicalType": "string", **keys}]).schema[0].fields

    assert field.is_required is required


@given(documents())
def test_a_model_is_the_same_however_it_was_made(document: Document) -> None:
    for _, one, _ in locate_fields(contract_from(document)):
        spelt_out = replace(one)
        assert (one, hash(one), repr(one)) == (spelt_out, hash(spelt_out), repr(spelt_out))


def test_a_model_cannot_be_changed() -> None:
    found = contract([{"name": "a", "logicalType": "string"}])

    with pytest.raises(FrozenInstanceError):
        found.id = "other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        found.schema[0].fields[0].name = "b"  # type: ignore[misc]


def test_a_contract_without_a_schema_has_no_objects() -> None:
    found = contract_from(HEAD)

    assert found.schema == ()
    assert found.objects is None
    assert contract_from({**HEAD, "schema": []}).objects == ()


def test_a_contract_has_the_form_of_its_document() -> None:
    short = {"dataset_id": "a", "version": "1.0.0", "owners": [], "fields": [{"name": "a", "type": "string"}]}

    assert contract_from(HEAD).form is Form.ODCS
    assert contract_from(short).form is Form.SHORT


def test_fields_are_found_at_every_depth_outermost_first() -> None:
    text, number = {"logicalType": "string"}, {"logicalType": "number"}
    found = contract(
        [
            {"name": "customer", "logicalType": "object", "properties": [{"name": "first.name", **text}]},
            {"name": "lines", "logicalType": "array", "items": {"logicalType": "array", "items": number}},
            {"name": "prices", "logicalType": "map", "map": {"key": text, "value": {**number, "unit": "EUR"}}},
        ]
    )

    assert [str(path) for path, _, _ in locate_fields(found)] == [
        "customer",
        "customer.`first.name`",
        "lines",
        "lines[]",
        "lines[][]",
        "prices",
        "prices{key}",
        "prices{}",
    ]


def test_objects_are_named_where_there_are_several() -> None:
    columns = [{"name": "id", "logicalType": "string"}]
    one = contract_from({**HEAD, "schema": [{"name": "orders", "properties": columns}]})
    two = contract_from(
        {**HEAD, "schema": [{"name": name, "properties": columns} for name in ("orders", "order lines")]}
    )

    assert [str(path) for path, _, _ in locate_fields(one)] == ["id"]
    assert [str(path) for path, _, _ in locate_fields(two)] == ["orders:id", "`order lines`:id"]


@given(documents())
def test_the_pointer_of_a_field_leads_to_it_in_the_document(document: Document) -> None:
    found = contract_from(document)
    written = write_odcs(found)

    for _, field, pointer in locate_fields(found):
        part: Any = written
        for key in pointer:
            part = part[key]
        assert (part.get("name"), part.get("logicalType")) == (field.name, field.logical_type)
