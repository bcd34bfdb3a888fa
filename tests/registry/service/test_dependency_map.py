"""The dependency map of a registry: scans and profiles kept, merged with subscriptions, restricted like contracts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.registry.backends import AnyRegistry
from tests.registry.offers import orders
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.service import Registry
from treaty.registry.service.lineage_events import record_accesses
from treaty.registry.store.data_accesses import DataAccess

CLOSE = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'close'")


def read(consumer: str = "close", source: str = "warehouse.legacy_revenue", *columns: str) -> ScannedRead:
    return ScannedRead(
        consumer, source, frozenset(columns or ("net",)), "airflow", CLOSE, "finance", "1d", None, ("close.py:4",)
    )


def sources(registry: AnyRegistry) -> list[tuple[str, str]]:
    return [(entry.consumer, entry.source) for entry in registry.dependency_map.entries().items]


def test_a_scan_replaces_the_last_one_of_its_name(registry: AnyRegistry) -> None:
    first = registry.dependency_map.record_scan("jobs", [read(), read("close", "raw.orders")])
    registry.dependency_map.record_scan("logs", [read("tableau")])
    second = registry.dependency_map.record_scan("jobs", [read("close", "raw.orders")])

    assert (first.recorded, first.replaced, second.recorded, second.replaced) == (2, 0, 1, 2)
    assert sources(registry) == [("close", "raw.orders"), ("tableau", "warehouse.legacy_revenue")]
    (entry, _) = registry.dependency_map.entries().items
    assert (entry.direct, entry.critical, entry.class_confidence, entry.team) == (True, True, 0.8, "finance")
    assert (entry.latency, entry.latency_is_stated, entry.places) == ("1d", False, ["close.py:4"])


def test_tables_of_contracts_resolve_to_lines_and_merge_with_subscriptions(registry: AnyRegistry) -> None:
    server = {
        "server": "lake",
        "type": "postgresql",
        "host": "db",
        "port": 5432,
        "database": "shop",
        "schema": "public",
    }
    registry.register(orders(servers=[server]))
    registry.consumers.subscribe("close", "orders@1", consumer_class="decision_automation", fields=["ltv"], team="tax")
    registry.dependency_map.record_scan("jobs", [read("close", "public.orders", "id")])

    (entry,) = registry.dependency_map.entries().items

    assert (entry.line, entry.evidence, entry.columns) == ("orders@1", ["declared", "scanned"], ["id", "ltv"])
    assert (entry.consumer_class, entry.class_confidence, entry.team) == ("decision_automation", None, "tax")


def test_what_people_say_stays_when_the_files_are_scanned_again(registry: AnyRegistry) -> None:
    registry.dependency_map.record_scan("jobs", [read()])
    registry.dependency_map.describe_consumer("close", consumer_class="operational_reporting", decision="month end")
    profile = registry.dependency_map.describe_consumer("close", latency="8h")
    registry.dependency_map.record_scan("jobs", [read()])

    (entry,) = registry.dependency_map.entries().items
    assert (profile.consumer_class, profile.latency, profile.decision) == ("operational_reporting", "8h", "month end")
    assert (entry.consumer_class, entry.class_reason, entry.latency, entry.decision) == (
        "operational_reporting",
        "set by people",
        "8h",
        "month end",
    )


def test_the_map_is_filtered_and_paged(registry: AnyRegistry) -> None:
    registry.dependency_map.record_scan("jobs", [read(), read("board", "mart.net"), read("board", "raw.orders")])
    api = registry.dependency_map

    first = api.entries(limit=2)
    rest = api.entries(limit=2, cursor=first.next)

    assert [entry.source for entry in (*first.items, *rest.items)] == [
        "raw.orders",
        "warehouse.legacy_revenue",
        "mart.net",
    ]
    assert rest.next is None
    assert [entry.source for entry in api.entries(direct=False).items] == ["mart.net"]
    assert [entry.consumer for entry in api.entries(source="mart.net").items] == ["board"]
    assert (api.entries(team="nobody").items, len(api.entries(consumer="board").items)) == ([], 2)


def test_bad_input_is_refused(registry: AnyRegistry) -> None:
    registry.dependency_map.record_scan("jobs", [read()])

    with pytest.raises(NotFound, match="no consumer 'nobody' in the map"):
        registry.dependency_map.describe_consumer("nobody", latency="1d")
    with pytest.raises(InvalidDocument, match="nothing is stated about the consumer"):
        registry.dependency_map.describe_consumer("close")
    with pytest.raises(InvalidDocument, match="twice; merge them"):
        registry.dependency_map.record_scan("jobs", [read(), read()])


def test_hidden_dependencies_are_found_in_scans(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("close", "orders@1", consumer_class="decision_automation", fields=["id"])
    reads = ScannedRead("close", "orders", frozenset({"id", "ltv", "row_no"}), "sql", CLOSE, parsed=frozenset({"id"}))
    registry.dependency_map.record_scan("jobs", [reads])

    found = registry.dependency_map.hidden_dependencies().items

    assert [(one.kind.value, one.consumer, one.line, one.subject) for one in found] == [
        ("parsed_identifier", "close", "orders@1", "id"),
        ("unknown_field", "close", "orders@1", "row_no"),
        ("undeclared_field", "close", "orders@1", "ltv"),
    ]
    assert [one.evidence for one in found] == [["scanned"]] * 3
    assert registry.dependency_map.hidden_dependencies(contract="orders@1", limit=2).next is not None
    assert registry.dependency_map.hidden_dependencies(contract="refunds").items == []
    assert registry.dependency_map.hidden_dependencies(consumer="tableau").items == []


def test_fields_that_the_read_api_refused_are_hidden_dependencies(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(orders())
        registry.consumers.subscribe("close", "orders@1", consumer_class="decision_automation", fields=["id"])
        asked = DataAccess(registry.context.now, "close", "close", Line("orders", 1), "field", fields=("id", "ltv"))
        old = replace(asked, at=asked.at - timedelta(days=400), fields=("row_no",))
        record_accesses(registry.context, [asked, old])

        (found,) = registry.dependency_map.hidden_dependencies().items

    assert (found.kind.value, found.subject, found.evidence) == ("undeclared_field", "ltv", ["refused"])
