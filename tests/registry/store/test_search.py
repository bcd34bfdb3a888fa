"""Contracts are found by name, field, owner, domain, tag, tier and words in their meanings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ID, LTV, PLAN_FIELD, orders, users
from treaty.errors import InvalidDocument
from treaty.registry.model.contract_answers import Query

CONTRACTS = [
    orders(
        id="sales.orders",
        name="Orders of the shop",
        domain="Sales",
        tags=["EU", "pii"],
        description={"purpose": "Every order that a Customer placed"},
        owners=[{"team": "Checkout", "contact": "#checkout"}],
        fields=[
            ID,
            {
                "name": "customer",
                "logicalType": "object",
                "properties": [{"name": "Email", "logicalType": "string", "description": "Where we write to"}],
            },
        ],
    ),
    orders(id="sales.100%_sure", domain="sales_x", tags=["50%"], fields=[ID], owners=[{"team": "a_b"}]),
    orders(id="sales.100-X-sure", domain="salesYx", tags=["500"], fields=[ID], owners=[{"team": "aXb"}]),
    orders(
        id="straße/größe",
        name="STRASSE",
        fields=[{"name": "ΠΛΑΤΟΣ", "logicalType": "number"}],
        tier="edge",
        expires="2099-12-31",
    ),
    orders(id="заказы", fields=[ID], description={"purpose": "всё о Заказах"}, tier="domain"),
    users(),
]
S, PERCENT, X, STREET, RU, USERS = (
    "sales.orders",
    "sales.100%_sure",
    "sales.100-X-sure",
    "straße/größe",
    "заказы",
    "users.daily_active",
)


QUERIES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {S, PERCENT, X, STREET, RU, USERS}),
    ({"name": "orders of"}, {S}),
    ({"name": "SALES."}, {S, PERCENT, X}),
    ({"field": "ltv"}, {USERS}),
    ({"field": "email"}, {S}),
    ({"field": "emai"}, set()),
    ({"field": "πλατος"}, {STREET}),
    ({"owner": "CHECKOUT"}, {S, STREET, RU}),
    ({"owner": "#growth"}, {USERS}),
    ({"domain": "sales"}, {S}),
    ({"tag": "eu"}, {S}),
    ({"tag": "e"}, set()),
    ({"tier": "edge"}, {STREET}),
    ({"text": "customer placed"}, {S}),
    ({"text": "PLACED customer"}, {S}),
    ({"text": "write"}, {S}),
    ({"text": "customer nowhere"}, set()),
    ({"text": "strasse"}, {STREET}),
    ({"text": "GRÖSSE"}, {STREET}),
    ({"text": "ЗАКАЗАХ"}, {RU}),
    ({"text": "sales", "tag": "pii"}, {S}),
    ({"tag": "pii", "tier": "edge"}, set()),
    ({"name": "100%"}, {PERCENT}),
    ({"name": "%"}, {PERCENT}),
    ({"name": "_sure"}, {PERCENT}),
    ({"text": "100%_"}, {PERCENT}),
    ({"owner": "a_b"}, {PERCENT}),
    ({"domain": "sales_x"}, {PERCENT}),
    ({"tag": "50%"}, {PERCENT}),
    ({"tag": "50_"}, set()),
    ({"name": "\\"}, set()),
    ({"name": "/"}, {STREET}),
    ({"text": "'; DROP TABLE contracts; --"}, set()),
    ({"name": "", "tag": ""}, {S, PERCENT, X, STREET, RU, USERS}),
    ({"field": "id\nltv"}, set()),
    ({"text": "customers"}, {S}),
    ({"text": "custmoer"}, {S}),
    ({"text": "custoner plased"}, {S}),
    ({"text": "custoners"}, {S}),
    ({"text": "emial"}, {S}),
    ({"text": "ltx"}, set()),
    ({"text": "platypus"}, set()),
]


@pytest.fixture
def stocked(registry: AnyRegistry) -> AnyRegistry:
    for one in CONTRACTS:
        registry.register(one)
    return registry


def test_every_part_of_a_query_must_fit(stocked: AnyRegistry) -> None:
    for asked, expected in QUERIES:
        found = {one.id for one in stocked.search(Query(**asked)).items}
        assert found == expected, asked


def test_search_shows_where_each_word_was_found(stocked: AnyRegistry) -> None:
    (found,) = stocked.search(Query(text="custoners emails")).items

    assert [(match.part, match.word, match.text) for match in found.matches] == [
        ("field", "customer", "customer"),
        ("field", "email", "email"),
    ]
    (found,) = stocked.search(Query(text="plased")).items
    assert [(match.part, match.text) for match in found.matches] == [("meaning", "every order that a customer placed")]
    assert stocked.search(Query(tag="pii")).items[0].matches == []


def test_a_sorted_search_has_pages(stocked: AnyRegistry) -> None:
    query = Query(sort="-owner", name="s")
    first = stocked.search(query, limit=2)
    second = stocked.search(query, cursor=first.next, limit=2)

    assert [found.id for found in first.items] == [USERS, S]
    assert second.items[0].id == STREET
    with pytest.raises(InvalidDocument, match=r"cannot sort by|Input should be"):
        stocked.search(Query(sort="colour"))


def test_what_is_found_is_described(stocked: AnyRegistry) -> None:
    (one,) = stocked.search(Query(tag="pii")).items

    assert (one.id, one.version, one.name) == ("sales.orders", "1.0.0", "Orders of the shop")
    assert (one.domain, one.tier, one.parent) == ("Sales", None, None)
    assert (one.summary, one.updated_at.isoformat()) == (
        "Every order that a Customer placed",
        "2026-03-01T12:00:00+00:00",
    )


def test_the_highest_version_describes_the_contract(registry: AnyRegistry) -> None:
    registry.register(orders(tags=["old"]))
    registry.register(orders("1.1.0", tags=["new"]))

    assert [one.version for one in registry.search(Query(tag="new")).items] == ["1.1.0"]
    assert registry.search(Query(tag="old")).items == []


def test_a_patch_of_an_older_line_does_not_hide_the_newest(registry: AnyRegistry) -> None:
    plan = {"guide": "https://x.example/", "window": "90d", "owner": "a"}
    registry.register(orders())
    registry.register(orders("2.0.0", [ID], migration=plan, tags=["new"]))
    registry.register(orders("1.0.1", tags=["patch"]))

    assert [one.version for one in registry.search(Query(name="orders")).items] == ["2.0.0"]
    assert registry.search(Query(tag="patch")).items == []


def test_a_field_of_an_older_line_is_found_while_the_line_is_in_use(registry: AnyRegistry) -> None:
    plan = {"guide": "https://x.example/", "window": "90d", "owner": "a"}
    note = {"name": "late_note", "logicalType": "string"}
    registry.register(orders())
    registry.register(orders("2.0.0", [ID], migration=plan))
    registry.register(orders("1.1.0", [ID, PLAN_FIELD, LTV, note]))

    for field in ("ltv", "late_note"):
        assert [one.version for one in registry.search(Query(field=field)).items] == ["2.0.0"], field
