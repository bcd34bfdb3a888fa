"""When the primary key of an object has changed."""

from __future__ import annotations

import pytest

from treaty.compatibility import diff
from treaty.contracts import Contract, Field, SchemaObject


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ([("id", None), ("amount", None)], [("amount", None), ("id", None)], False),
        ([("id", 1), ("amount", 2)], [("amount", 2), ("id", 1)], False),
        ([("id", 2), ("amount", 1)], [("id", None), ("amount", None)], False),
        ([("id", 1), ("amount", 2)], [("id", 2), ("amount", 1)], True),
        ([("id", 1)], [("id", 1), ("amount", 2)], True),
        ([("id", -1)], [("amount", -1)], True),
    ],
)
def test_a_key_changes_with_its_fields_and_their_declared_order(
    before: list[tuple[str, int | None]], after: list[tuple[str, int | None]], changed: bool
) -> None:
    changes = diff(contract(before), contract(after))

    assert ("primary_key_changed" in {change.kind for change in changes}) is changed


def contract(key: list[tuple[str, int | None]]) -> Contract:
    fields = tuple(Field(name=name, primary_key=True, primary_key_position=place) for name, place in key)
    item = SchemaObject(name="orders", properties=fields)
    return Contract(id="orders", version="1.0.0", api_version="v3.1.0", objects=(item,))
