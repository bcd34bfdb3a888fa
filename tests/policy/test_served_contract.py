"""The contract of the rows that a consumer reads has the served fields, with the types that masks give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts.paths import FieldPath, parse_path
from treaty.policy import effective_view
from treaty.policy.served_contract import key_problem, region_problem, served_contract

FIELDS: list[dict[str, Any]] = [
    {"name": "id", "logicalType": "string", "primaryKey": True, "required": True},
    {"name": "amount", "logicalType": "number", "physicalType": "decimal(12,2)", "required": True},
    {
        "name": "city",
        "logicalType": "string",
        "required": True,
        "logicalTypeOptions": {"minLength": 3},
        "enum": [{"value": "Bonn"}],
    },
    {"name": "born", "logicalType": "date"},
    {
        "name": "lines",
        "logicalType": "array",
        "items": {
            "logicalType": "object",
            "properties": [
                {"name": "sku", "logicalType": "string"},
                {"name": "price", "logicalType": "number"},
            ],
        },
    },
]


@dataclass(frozen=True)
class Reader:
    """A consumer."""

    fields: tuple[FieldPath, ...] = ()
    consumer: str = "bi"
    purpose: str | None = "reporting"


def view_of(policy: dict[str, Any], *fields: str, region: str | None = None) -> Any:
    stated = contract({"fields": FIELDS, "data_policy": policy or None})
    return stated, effective_view(stated, Reader(tuple(map(parse_path, fields))), region=region)


def test_fields_that_are_not_declared_are_left_out_at_any_depth() -> None:
    served = served_contract(*view_of({}, "id", "lines[].sku"))

    (schema,) = served.schema
    assert [field.name for field in schema.fields] == ["id", "lines"]
    lines = schema.fields[1].items
    assert lines is not None
    assert [child.name for child in lines.properties or ()] == ["sku"]


def test_masked_fields_have_the_type_of_their_mask_and_none_of_their_rules() -> None:
    rules = {
        "id": {"mask": "hash", "key": "people"},
        "amount": {"mask": "generalise", "to": "range", "width": 10},
        "city": "redact",
        "born": {"mask": "generalise", "to": "year"},
        "lines[].price": {"mask": "tokenise", "key": "people"},
    }
    (schema,) = served_contract(*view_of({"fields": rules})).schema
    by_name = {field.name: field for field in schema.fields}

    assert {name: field.type.name if field.type else None for name, field in by_name.items()} == {
        "id": "string",
        "amount": "integer",
        "city": "string",
        "born": "date",
        "lines": "array",
    }
    assert [field.required for field in by_name.values()] == [None] * 5
    assert (by_name["city"].enum, by_name["city"].options) == (None, None)
    assert by_name["id"].primary_key is True
    lines = by_name["lines"].items
    assert lines is not None
    assert lines.properties is not None
    assert [child.logical_type for child in lines.properties] == ["string", "string"]


@pytest.mark.parametrize(
    ("policy", "fields", "problem"),
    [
        ({}, (), None),
        ({"fields": {"id": {"mask": "hash", "key": "people"}}}, (), None),
        (
            {"fields": {"id": "redact"}},
            (),
            "the key field id is masked (redact) by data_policy.fields.id of orders 1.0.0",
        ),
        ({}, ("city",), "the consumer does not read the key field id"),
    ],
)
def test_rows_are_told_apart_by_keys_that_stay_different(
    policy: dict[str, Any], fields: tuple[str, ...], problem: str | None
) -> None:
    assert key_problem(*view_of(policy, *fields)) == problem


RESIDENCY = {"residency": {"column": "city", "serve": {"Bonn": ["eu"]}}}


@pytest.mark.parametrize(
    ("region", "problem"),
    [
        ("eu", None),
        ("us", "data_policy.residency of orders 1.0.0 allows no rows in the region us"),
        (None, None),
    ],
)
def test_a_region_without_any_rows_is_a_problem(region: str | None, problem: str | None) -> None:
    _, view = view_of(RESIDENCY, region=region)

    assert region_problem(view) == problem
