"""Critical consumers that read directly: what would serve them, who is notified, and what a policy forbids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.catalog.contract_registry import read_event
from tests.registry.backends import START, AnyRegistry, Backend
from tests.registry.offers import ID, LTV, PLAN_FIELD, orders
from treaty.consumers.dependencies import MadeFrom
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.versions import Line
from treaty.errors import Refused
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.scanned_reads import ScannedRead

CLOSE = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'close'")
EDGE = {
    "name": "edge",
    "for": "consumer",
    "from": "2026-04-01",
    "where": {"class": ["external_regulatory", "decision_automation"], "layer": ["raw", "product", "legacy"]},
    "must": {"layer": "publication"},
    "message": "critical consumers read publications",
}
NOTICE = "close is critical, and reads {} directly, which is {}; sales@1 would serve it"


def policy(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    return orders(version, [], id="base", tier="enterprise", **changes)


@pytest.fixture
def shop(registry: AnyRegistry) -> AnyRegistry:
    """Register a product, and the publication that is made from it, below a policy."""
    registry.register(policy(require=[EDGE]))
    registry.register(orders(parent="base"))
    registry.register(orders(id="sales", fields=[ID], parent="base", owners=[{"team": "finance"}]))
    registry.consumers.record_lineage("orders@1", None, layer="product")
    registry.consumers.record_lineage("sales@1", [MadeFrom(Line("sales", 1), Line("orders", 1))], layer="publication")
    return registry


def scan(registry: AnyRegistry, source: str) -> None:
    registry.dependency_map.record_scan("jobs", [ScannedRead("close", source, frozenset({"id"}), "sql", CLOSE, "tax")])


def told(registry: AnyRegistry) -> list[str]:
    return [one.headline for one in registry.notices.notices().items if one.kind == "consumer.reads_directly"]


def subscribe(registry: AnyRegistry, consumer_class: str = "external_regulatory") -> list[str]:
    return registry.consumers.subscribe("close", "orders@1", consumer_class=consumer_class, team="tax").warnings


READS: dict[str, Callable[[AnyRegistry], object]] = {
    "declared": lambda registry: subscribe(registry),
    "scanned": lambda registry: scan(registry, "orders"),
}


@pytest.mark.parametrize("evidence", READS)
def test_a_direct_read_is_reported_with_what_would_serve_it(shop: AnyRegistry, evidence: str) -> None:
    READS[evidence](shop)

    (entry,) = shop.dependency_map.entries(direct=True).items
    assert (entry.source, entry.source_kind, entry.served_by, entry.forbidden) == (
        "orders@1",
        "product",
        "sales@1",
        None,
    )
    assert told(shop) == [NOTICE.format("orders@1", "a product")]
    assert shop.consumers.lineage("orders@1").publications == ["sales@1"]


def test_an_observed_read_counts_once_people_said_what_the_consumer_is(shop: AnyRegistry) -> None:
    shop.lineage.record([read_event("close", "orders@1", START, "id")])
    assert told(shop) == []

    shop.dependency_map.describe_consumer("close", consumer_class="external_regulatory")
    shop.dependency_map.describe_consumer("close", decision="monthly close")

    assert told(shop) == [NOTICE.format("orders@1", "a product")]


def test_a_known_critical_consumer_is_reported_when_it_is_seen_reading(shop: AnyRegistry) -> None:
    shop.consumers.subscribe("close", "sales@1", consumer_class="external_regulatory", team="tax")
    shop.lineage.record([read_event("close", "orders@1", START, "id")])
    shop.lineage.record([read_event("close", "orders@1", START, "id", run=2)])

    assert told(shop) == [NOTICE.format("orders@1", "a product")]


def test_a_reader_of_a_legacy_feed_is_served_by_what_replaces_it(shop: AnyRegistry) -> None:
    shop.cutovers.declare("revenue", "sales@1", "Finance Systems", names=["dwh.revenue"])
    scan(shop, "lake.dwh.revenue")
    scan(shop, "lake.dwh.revenue")

    (entry,) = shop.dependency_map.entries(direct=True).items
    assert (entry.source_kind, entry.served_by, entry.line) == ("legacy", "sales@1", None)
    assert told(shop) == [NOTICE.format("lake.dwh.revenue", "a legacy feed")]


def test_a_policy_forbids_direct_reads_from_a_day_on(shop: AnyRegistry, backend: Backend) -> None:
    warnings = subscribe(shop)
    assert warnings == [
        "critical consumers read publications: close reads a product directly (from base 1.0.0); "
        "refused from 2026-04-01 on",
        "close is external_regulatory, and reads orders@1 directly, which is a product; read sales@1 instead",
    ]

    backend.clock.pass_days(31)
    (entry,) = shop.dependency_map.entries(direct=True).items
    assert entry.forbidden == ("critical consumers read publications: close reads a product directly (from base 1.0.0)")
    with pytest.raises(Refused, match="critical consumers read publications"):
        subscribe(shop, "decision_automation")


def test_a_waiver_allows_one_consumer_for_a_time(shop: AnyRegistry, backend: Backend) -> None:
    backend.clock.pass_days(31)
    shop.governance.waive(
        "consumer_violates_policy",
        owner="tax",
        reason="the publication lacks the tax code",
        until="2026-05-01",
        contract="orders",
        path="close",
    )

    assert subscribe(shop)[-1].endswith("(from base 1.0.0); waived by tax until 2026-05-01")
    assert [one.forbidden for one in shop.dependency_map.entries(direct=True).items] == [None]
    with pytest.raises(Refused):
        shop.consumers.subscribe("other", "orders@1", consumer_class="external_regulatory", team="tax")
    backend.clock.pass_days(40)
    assert [one.forbidden is None for one in shop.dependency_map.entries(direct=True).items] == [False]


def test_publications_that_are_nearly_the_same_are_listed_in_pages(registry: AnyRegistry) -> None:
    for name in ("orders", "copy", "stock"):
        fields = [ID, PLAN_FIELD, LTV] if name != "stock" else [ID, {"name": "count", "logicalType": "integer"}]
        registry.register(orders(id=name, fields=fields))
        registry.consumers.record_lineage(f"{name}@1", None, layer="publication")
    registry.register(orders(id="edge", sharing="edge", expires="2027-01-01"))
    registry.register(orders(id="product"))

    first = registry.dependency_map.near_duplicates(limit=2)
    rest = registry.dependency_map.near_duplicates(limit=2, cursor=first.next)

    assert [(one.first, one.second, one.score) for one in (*first.items, *rest.items)] == [
        ("copy@1", "edge@1", 1.0),
        ("copy@1", "orders@1", 1.0),
        ("edge@1", "orders@1", 1.0),
    ]
    assert (first.items[0].shared, first.items[0].lineage_share, rest.next) == (["id", "ltv", "plan"], None, None)
