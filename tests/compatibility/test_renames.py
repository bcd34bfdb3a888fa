"""A rename is known by its id; without one it is suggested, never assumed."""

from __future__ import annotations

from typing import Any

from tests.documents import contract
from treaty.compatibility import diff, suggest_renames


def _fields(*fields: dict[str, Any]) -> Any:
    return contract([{"logicalType": "string", **field} for field in fields])


CUSTOMER = {"name": "customer_ref", "description": "Who placed the order, as the customer master knows them."}


def test_an_undeclared_rename_is_a_removal_and_an_addition() -> None:
    before, after = _fields(CUSTOMER), _fields({**CUSTOMER, "name": "customer_reference"})

    assert [change.kind for change in diff(before, after)] == ["field_removed", "field_added"]


def test_an_undeclared_rename_is_suggested_with_a_confidence_and_reasons() -> None:
    before, after = _fields(CUSTOMER), _fields({**CUSTOMER, "name": "customer_reference"})

    (suggestion,) = suggest_renames(before, after)

    assert (suggestion.before, suggestion.after) == ("customer_ref", "customer_reference")
    assert 0.8 < suggestion.confidence <= 1
    assert suggestion.reasons == ("similar name", "same type", "same position", "same meaning")


def test_two_unlike_fields_are_not_suggested() -> None:
    before = _fields({"name": "ltv", "description": "Lifetime value."})
    after = _fields({"name": "signup_source", "description": "Where the user came from.", "required": True})

    assert suggest_renames(before, after) == ()


def test_each_field_is_matched_once_with_its_best_partner() -> None:
    before = _fields({"name": "ship_date"}, {"name": "ship_city"})
    after = _fields({"name": "shipping_date"}, {"name": "shipping_city"})

    pairs = {(one.before, one.after) for one in suggest_renames(before, after)}

    assert pairs == {("ship_date", "shipping_date"), ("ship_city", "shipping_city")}


def test_a_declared_rename_is_one_change_and_no_suggestion() -> None:
    before, after = _fields({**CUSTOMER, "id": "customer"}), _fields({**CUSTOMER, "id": "customer", "name": "buyer"})

    assert [(change.kind, change.before, change.after) for change in diff(before, after)] == [
        ("field_renamed", "customer_ref", "buyer")
    ]
    assert suggest_renames(before, after) == ()


def test_fields_with_different_ids_are_different_fields() -> None:
    before, after = _fields({**CUSTOMER, "id": "one"}), _fields({**CUSTOMER, "id": "two", "name": "customer_reference"})

    assert suggest_renames(before, after) == ()


def test_renames_inside_nested_objects_are_found_at_their_path() -> None:
    def nested(name: str) -> Any:
        inner = [{"name": name, "logicalType": "string", "description": "Where the parcel goes."}]
        return _fields(
            {"name": "parcels", "logicalType": "array", "items": {"logicalType": "object", "properties": inner}}
        )

    (suggestion,) = suggest_renames(nested("dest_city"), nested("destination_city"))

    assert (suggestion.before, suggestion.after) == ("parcels[].dest_city", "parcels[].destination_city")
