"""OpenLineage events: resolved to lines and consumers, counted once, and part of who depends on what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from tests.registry.backends import START, AnyRegistry, Backend, Clock
from tests.registry.offers import ID, PLAN, PLAN_FIELD, orders
from treaty.errors import InvalidDocument, NotAllowed, Unavailable
from treaty.registry.service import Registry
from treaty.registry.service.retention import delete_expired

DATABASE = "postgres://db.example.org:5432"
SERVER = {
    "server": "production",
    "type": "postgresql",
    "host": "db.example.org",
    "port": 5432,
    "database": "shop",
    "schema": "public",
}
TABLE = {"namespace": DATABASE, "name": "shop.public.orders"}
SCORES = {"namespace": "treaty", "name": "scores@1"}
BREAKING = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)  # without ltv


def served_orders(**changes: Any) -> dict[str, Any]:
    return orders(servers=[SERVER], **changes)


def scores() -> dict[str, Any]:
    return {**orders(fields=[ID, {"name": "score", "logicalType": "number"}]), "id": "scores"}


def event(
    job: str = "dashboard.load",
    *,
    at: datetime = START,
    kind: str = "COMPLETE",
    run: int = 1,
    inputs: tuple[dict[str, str], ...] = (TABLE,),
    output: dict[str, str] | None = None,
    parent: str | None = None,
    **columns: str,
) -> dict[str, Any]:
    """Return an event of a job that reads; each column names the field of `orders` that it is computed from."""
    facets = {
        "columnLineage": {
            "_producer": "https://airflow.example.org",
            "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
            "fields": {name: {"inputFields": [{**TABLE, "field": field}]} for name, field in columns.items()},
        }
    }
    parents = {"parent": {"run": {"runId": str(UUID(int=900))}, "job": {"namespace": "airflow", "name": parent}}}
    return {
        "eventType": kind,
        "eventTime": at.isoformat(),
        "producer": "https://airflow.example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=run)), "facets": parents if parent else {}},
        "job": {"namespace": "airflow", "name": job},
        "inputs": list(inputs),
        "outputs": [{**(output or {"namespace": "file", "name": "/reports/daily"}), "facets": facets}],
    }


def usage(registry: AnyRegistry) -> list[tuple[str, str, str, list[str]]]:
    return [(one.consumer, one.line, one.usage, one.fields) for one in registry.lineage.usage().items]


def test_dataset_resolves_to_a_line_by_the_servers_of_its_contract(registry: AnyRegistry) -> None:
    registry.register(served_orders())

    receipt = registry.lineage.record([event(total="LTV")])

    assert (receipt.recorded, receipt.known) == (1, 0)
    assert receipt.unresolved == ["file /reports/daily"]
    assert usage(registry) == [("dashboard.load", "orders@1", "unsubscribed", ["ltv"])]


def test_dataset_of_a_contract_without_its_server_no_longer_resolves(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    registry.register(orders("1.1.0"))

    assert registry.lineage.record([event()]).unresolved == ["file /reports/daily", f"{DATABASE} shop.public.orders"]
    assert usage(registry) == []


def test_dataset_in_the_treaty_namespace_is_a_line_or_a_contract(registry: AnyRegistry) -> None:
    registry.register(orders())
    by_line, by_contract = ({"namespace": "treaty", "name": name} for name in ("orders@1", "orders"))

    registry.lineage.record([event("a", inputs=(by_line,)), event("b", run=2, inputs=(by_contract,))])

    assert usage(registry) == [("a", "orders@1", "unsubscribed", []), ("b", "orders@1", "unsubscribed", [])]


def test_event_counts_once(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    first = registry.lineage.record([event(total="ltv"), event(total="ltv")])
    before = registry.lineage.usage()

    again = registry.lineage.record([event(total="ltv"), event(total="ltv", kind="START")])

    assert (first.recorded, first.known) == (1, 1)
    assert (again.recorded, again.known) == (1, 1)
    assert registry.lineage.usage() == before


def test_events_in_any_order_give_the_same_days(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    earlier = START - timedelta(days=3)

    registry.lineage.record([event(run=2)])
    registry.lineage.record([event(run=1, at=earlier)])

    (reads,) = registry.lineage.usage().items
    assert (reads.first_seen, reads.last_seen, reads.run) == (earlier, START, str(UUID(int=2)))


def test_task_counts_under_the_job_that_started_it(registry: AnyRegistry) -> None:
    registry.register(served_orders())

    registry.lineage.record([event("dashboard.load", parent="dashboard")])

    assert usage(registry) == [("dashboard", "orders@1", "unsubscribed", [])]


def test_subscriber_is_seen_reading_and_its_other_fields_are_named(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    registry.consumers.subscribe("dashboard", "orders@1", fields=["plan"], consumer_class="operational_reporting")

    registry.lineage.record([event("dashboard.load", parent="dashboard", a="ltv", b="plan")])

    (reads,) = registry.lineage.usage().items
    assert (reads.usage, reads.fields, reads.undeclared_fields) == ("read", ["ltv", "plan"], ["ltv"])
    assert [(one.name, one.fields) for one in registry.consumers.impact(BREAKING).having("hit")] == [
        ("dashboard", ["ltv"])
    ]


def test_declared_fields_that_are_not_read_for_90_days_are_named(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(served_orders())
    registry.consumers.subscribe(
        "dashboard", "orders@1", fields=["plan", "ltv"], consumer_class="operational_reporting"
    )

    def read_again(run: int) -> list[str]:
        registry.lineage.record([event("dashboard", run=run, at=clock.now, a="plan")])
        (reads,) = registry.lineage.usage().items
        return reads.unread_fields

    registry.lineage.record([event("dashboard", at=clock.now, a="ltv")])
    at_first = read_again(2)
    clock.now += timedelta(days=60)
    after_two_months = read_again(3)
    clock.now += timedelta(days=40)

    assert (at_first, after_two_months, read_again(4)) == ([], [], ["ltv"])


def test_impact_and_retirement_mark_fields_whose_usage_differs_from_the_subscription(
    registry: AnyRegistry, clock: Clock
) -> None:
    registry.register(served_orders())
    registry.consumers.subscribe("dashboard", "orders@1", fields=["id", "ltv"], consumer_class="operational_reporting")
    registry.consumers.subscribe("report", "orders@1", fields=["ltv"], consumer_class="operational_reporting")
    registry.lineage.record([event("dashboard", run=1, at=clock.now, a="ltv")])
    clock.now += timedelta(days=100)
    registry.lineage.record([event("dashboard", run=2, at=clock.now, a="id", b="plan")])

    affected = {one.name: one for one in registry.consumers.impact(BREAKING).affected}
    decision = registry.consumers.can_i_retire("orders@1")

    dashboard, report = affected["dashboard"], affected["report"]
    assert (dashboard.unread_fields, dashboard.undeclared_fields) == (["ltv"], ["plan"])
    assert [dashboard.usage_of_field(field) for field in ("ltv", "plan", "id")] == ["unread", "undeclared", None]
    assert (report.usage, report.unread_fields, report.usage_of_field("ltv")) == ("silent", [], None)
    assert [(one.kind, one.message) for one in decision.reasons if one.kind.startswith("consumer_fields")] == [
        (
            "consumer_fields_unread",
            "dashboard declares fields of orders@1 that it was not seen reading in 90 days: ltv",
        ),
        ("consumer_fields_undeclared", "dashboard was seen reading fields of orders@1 that it does not declare: plan"),
    ]
    assert [(one.name, one.unread_fields) for one in decision.affected if one.unread_fields] == [("dashboard", ["ltv"])]


def test_graph_and_impact_mark_who_reads_without_a_subscription(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    registry.consumers.subscribe("report", "orders@1", fields=["plan"], consumer_class="operational_reporting")
    registry.lineage.record([event("dashboard", total="ltv")])

    nodes = registry.consumers.graph("orders@1").nodes
    affected = registry.consumers.impact(BREAKING).affected

    assert [(node.name, node.usage, str(node.last_read)) for node in nodes] == [
        ("dashboard", "unsubscribed", "2026-03-01"),
        ("report", "declared", "None"),
    ]
    assert [(one.name, one.effect, one.usage, one.consumer_class) for one in affected] == [
        ("dashboard", "hit", "unsubscribed", None),
        ("report", "safe", "declared", "operational_reporting"),
    ]
    assert [(node.name, node.usage) for node in registry.consumers.graph("dashboard", direction="upstream").nodes] == [
        ("orders@1", "unsubscribed")
    ]
    (edge,) = [one for one in registry.consumers.layout("orders@1").edges if one.downstream == "consumer:dashboard"]
    assert (edge.kind, edge.usage, edge.fields) == ("reads", "unsubscribed", ["ltv"])


def test_reader_stops_to_count_after_the_window(backend: Backend, registry: AnyRegistry, clock: Clock) -> None:
    registry.register(served_orders())
    registry.lineage.record([event("dashboard", total="ltv")])

    clock.pass_days(90)
    assert [node.name for node in registry.consumers.graph("orders@1").nodes] == ["dashboard"]
    clock.pass_days(1)
    assert [node.name for node in registry.consumers.graph("orders@1").nodes] == []


def test_reader_that_goes_on_reading_counts_on(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(served_orders())
    for run in range(1, 5):
        registry.lineage.record([event("dashboard", run=run, at=clock.now, total="ltv")])
        assert [node.name for node in registry.consumers.graph("orders@1").nodes] == ["dashboard"]
        clock.pass_days(60)

    assert [node.name for node in registry.consumers.graph("orders@1").nodes] == ["dashboard"]


def test_subscriber_that_was_not_seen_for_90_days_is_silent(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(served_orders())
    for name in ("left", "never", "reading"):
        registry.consumers.subscribe(name, "orders@1", consumer_class="operational_reporting")
    registry.lineage.record([event("left")])
    clock.pass_days(91)
    registry.lineage.record([event("reading", run=2, at=clock.now)])

    nodes = registry.consumers.graph("orders@1").nodes

    assert [(node.name, node.usage, str(node.last_read)) for node in nodes] == [
        ("left", "silent", "2026-03-01"),
        ("never", "silent", "None"),
        ("reading", "read", "2026-05-31"),
    ]


def test_without_events_about_a_line_nobody_is_silent(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.consumers.subscribe("report", "orders@1", consumer_class="operational_reporting")
    clock.pass_days(200)

    assert [node.usage for node in registry.consumers.graph("orders@1").nodes] == ["declared"]


def test_observed_reader_blocks_a_retirement(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(served_orders())
    registry.consumers.subscribe("report", "orders@1", consumer_class="operational_reporting")
    clock.pass_days(100)
    registry.lineage.record([event("dashboard", at=clock.now, total="ltv")])

    decision = registry.consumers.can_i_retire("orders@1")

    assert [(reason.severity, reason.message) for reason in decision.reasons] == [
        ("error", "orders 1.0.0 is active; deprecate it first"),
        ("error", "report still reads orders@1"),
        ("error", "dashboard was seen reading orders@1 on 2026-06-09, without a subscription"),
        (
            "warning",
            "report subscribed to orders@1, but was not seen reading it at all; ask whether it still does",
        ),
    ]
    assert [(one.name, one.usage) for one in decision.affected] == [("report", "silent"), ("dashboard", "unsubscribed")]


def test_job_that_writes_a_contract_of_its_team_is_a_producer(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    registry.register(scores())

    registry.lineage.record([event("scoring", output=SCORES, score="ltv")])

    (upstream,) = registry.consumers.lineage("scores@1").upstreams
    assert upstream.model_dump() == {"line": "orders@1", "fields": [], "mappings": {"score": ["ltv"]}}
    assert usage(registry) == []


def test_job_of_another_team_is_a_consumer_whatever_it_says_to_write(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(served_orders())
    registry.register(scores())
    stranger = backend.acting_as("stranger", "contributor", "another-team")

    stranger.lineage.record([event("scoring", output=SCORES, score="ltv")])

    assert registry.consumers.lineage("scores@1").upstreams == []
    assert usage(registry) == [("scoring", "orders@1", "unsubscribed", ["ltv"])]


def test_viewer_may_not_send_events(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(served_orders())

    with pytest.raises(NotAllowed):
        backend.acting_as("guest", "viewer").lineage.record([event()])


def test_unknown_fields_of_events_are_left_out(registry: AnyRegistry) -> None:
    registry.register(served_orders())

    registry.lineage.record([event(total="no_such_field")])

    assert usage(registry) == [("dashboard.load", "orders@1", "unsubscribed", [])]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": {"runId": "7"}}, "run.runId: input should be a valid UUID"),
        ({"eventTime": "yesterday"}, "eventTime: input should be a valid datetime"),
        (
            {"eventType": "DONE"},
            "eventType: input should be 'START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL' or 'OTHER'",
        ),
        ({"job": {"name": "load"}}, "job.namespace: field required"),
        ({"inputs": [{"namespace": "x"}]}, "inputs.0.name: field required"),
        ({"inputs": 7}, "inputs: input should be a valid list"),
    ],
)
def test_bad_event_is_refused_with_the_place(registry: AnyRegistry, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidDocument) as refusal:
        registry.lineage.record([event(), {**event(run=2), **change}])

    assert f"event 1 is not a valid OpenLineage event: {message}" in str(refusal.value)
    assert usage(registry) == []


def test_job_names_of_any_length_and_characters_are_consumers(registry: AnyRegistry) -> None:
    registry.register(served_orders())

    registry.lineage.record([event("x" * 500), event("tab\there", run=2)])

    names = [one.consumer for one in registry.lineage.usage().items]
    assert names[0] == "tab here"
    assert names[1].startswith("xxx")
    assert len(names[1]) == 200


def test_old_events_are_deleted_after_the_retention(backend: Backend, registry: AnyRegistry, clock: Clock) -> None:
    registry.register(served_orders())
    registry.lineage.record([event(), event(run=2)])
    clock.pass_days(31)
    registry.lineage.record([event(run=3, at=clock.now)])

    counted = delete_expired(backend.local.context)

    assert counted.lineage_events == 2
    assert backend.rows("SELECT run FROM lineage_events") == [(str(UUID(int=3)),)]
    assert len(registry.lineage.usage().items) == 1


def test_concurrent_requests_each_get_their_own_receipt(registry: AnyRegistry) -> None:
    registry.register(served_orders())
    requests = [[event(f"job {number}", run=number), event("same", run=1_000)] for number in range(1, 25)]

    with ThreadPoolExecutor(12) as pool:
        receipts = list(pool.map(registry.lineage.record, requests))

    assert sum(receipt.recorded for receipt in receipts) == 25
    assert sum(receipt.known for receipt in receipts) == 23
    assert all(receipt.unresolved == ["file /reports/daily"] for receipt in receipts)
    assert len(registry.lineage.usage().items) == 25


def test_failure_of_the_database_reaches_every_request(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "broken.db")) as registry:
        registry.context.database.change(lambda connection: connection.execute(text("DROP TABLE lineage_events")))

        for run in (1, 2):
            with pytest.raises(Unavailable):
                registry.lineage.record([event(run=run)])
