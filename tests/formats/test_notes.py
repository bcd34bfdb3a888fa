"""Notes beside a format's own words: a schema that somebody edited is believed before them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts.model import Field
from treaty.errors import InvalidDocument
from treaty.formats import get_format

AVRO = get_format("avro")
FIELDS = [
    {
        "name": "status",
        "logicalType": "string",
        "enum": [{"value": "NEW", "description": "Just in."}, {"value": "PAID"}],
    },
    {"name": "total", "logicalType": "number", "physicalType": "NUMERIC(10, 2)", "unit": "EUR", "required": True},
]


def _edited(edit: Any) -> tuple[Field, ...]:
    schema = json.loads(AVRO.write(contract(FIELDS)).text)
    edit(schema["fields"])
    return AVRO.read(json.dumps(schema), name="orders.avsc").contracts[0].schema[0].fields


def test_a_note_completes_what_the_schema_says() -> None:
    status, total = _edited(lambda fields: None)

    assert status.enum is not None
    assert status.enum[0]["description"] == "Just in."
    assert total.physical_type == "NUMERIC(10, 2)"
    assert total.treaty["unit"] == "EUR"


def test_a_new_symbol_is_seen_although_the_note_knows_it_not() -> None:
    def add(fields: list[Any]) -> None:
        fields[0]["type"][1]["symbols"].append("LOST")

    status, _ = _edited(add)

    assert [item["value"] for item in status.enum or ()] == ["NEW", "PAID", "LOST"]


def test_another_type_is_seen_although_the_note_remembers_the_old_one() -> None:
    def widen(fields: list[Any]) -> None:
        fields[1]["type"]["precision"] = 12

    _, total = _edited(widen)

    assert total.physical_type == "decimal(12,2)"
    assert total.treaty["unit"] == "EUR"


def test_a_field_that_became_optional_is_optional() -> None:
    def loosen(fields: list[Any]) -> None:
        fields[1]["type"] = ["null", fields[1]["type"]]

    _, total = _edited(loosen)

    assert not total.is_required


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (3, r"total: the note 'treaty' is '3', not a mapping; remove it"),
        ({"instead": []}, r"total: 'instead' in the note 'treaty' is not a mapping of mappings; remove it"),
        ({"properties": [1]}, r"total: a key of the note 'treaty' has the wrong type; remove it"),
        ({"colour": "red"}, r"unknown key 'colour' at schema\[0\].properties\[1\]"),
    ],
)
def test_a_note_that_is_none_is_refused(kept: Any, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        _edited(lambda fields: fields[1].update(treaty=kept))
