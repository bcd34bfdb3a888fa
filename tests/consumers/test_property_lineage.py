"""Lineage from `transformSourceObjects` and `transformLogic` of properties."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.consumers.property_lineage import lineage_in_properties

ORDERS = contract(
    {
        "id": "orders",
        "fields": [
            {"name": "total", "logicalType": "number", "physicalName": "TOTAL_AMT"},
            {"name": "tax", "logicalType": "number"},
            {"name": "status", "logicalType": "string"},
        ],
    }
)


@pytest.mark.parametrize(
    ("logic", "mappings"),
    [
        ("total - tax", {"net": ["tax", "total"]}),
        ("SELECT o.total_amt FROM orders o -- without tax", {"net": ["total"]}),
        ("CASE WHEN status = 'tax' THEN 0 END", {"net": ["status"]}),
        ("SELECT o.* FROM orders o", {}),
        ("2 * 3", {}),
        ("", {}),
    ],
)
def test_names_of_upstream_fields_in_a_logic_are_the_sources_of_a_field(
    logic: str, mappings: dict[str, list[str]]
) -> None:
    stated: dict[str, Any] = {"transformSourceObjects": ["orders", " legacy_table "], "transformLogic": logic}
    derived = contract({"id": "revenue", "fields": [{"name": "net", "logicalType": "number", **stated}]})

    legacy, orders = lineage_in_properties(derived, {"orders": ORDERS}.get)

    assert (legacy.contract, legacy.fields, dict(legacy.mappings)) == ("legacy_table", (), {})
    assert (orders.contract, {name: list(orders.mappings[name]) for name in orders.mappings}) == ("orders", mappings)


def test_a_document_without_source_objects_states_no_lineage() -> None:
    assert lineage_in_properties(ORDERS, {"orders": ORDERS}.get) == ()
