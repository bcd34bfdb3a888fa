"""Which field is which, where an id is the name a field had before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.compatibility import diff


def _changes(before: list[Any], after: list[Any]) -> list[tuple[str, str | None]]:
    return [
        (change.kind, change.field)
        for change in diff(contract(before), contract(after))
        if change.kind != "field_metadata_changed"
    ]


def _field(name: str, identity: str | None = None) -> dict[str, Any]:
    return {"name": name, "logicalType": "string"} | ({"id": identity} if identity else {})


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ([_field("customer")], [_field("client", "customer")], [("field_renamed", "customer")]),
        ([_field("client", "customer")], [_field("buyer", "client")], [("field_renamed", "client")]),
        ([_field("customer")], [_field("customer"), _field("client", "customer")], [("field_added", "client")]),
        ([_field("customer")], [_field("customer", "cust")], []),
        ([_field("client", "customer")], [_field("client")], []),
    ],
)
def test_an_id_may_be_the_name_that_a_field_had(before: Any, after: Any, changes: Any) -> None:
    assert _changes(before, after) == changes
