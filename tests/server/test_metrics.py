"""`GET /metrics`: what Prometheus reads of the server and of contracts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx2
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from tests.server.conftest import Clock, Serve
from tests.server.contracts import short
from tests.server.running import ServingProcess, client_of, running
from treaty.observability.measures import Measure
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.settings import AccessSettings, Limits

Samples = dict[tuple[str, ...], float]
AT = datetime(2026, 3, 2, 11, tzinfo=UTC)


def scrape(client: httpx2.Client, *names: str) -> Samples:
    """Return the samples of some metrics: the values by name and values of the labels."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name in names
    }


def test_requests_are_counted_by_route_and_status(client: httpx2.Client) -> None:
    before = scrape(client, "treaty_http_requests_total")
    client.get("/api/v1/contracts/orders/versions")
    client.post("/contracts", json=short("orders"))
    client.get("/api/v1/contracts/orders/versions")
    client.head("/datasets")
    client.request("DELETE", "/datasets")
    client.get("/schema-registry/subjects/a%2Fb/versions")
    client.get("/schema-registry/nothing")
    after = scrape(client, "treaty_http_requests_total")

    assert {key[1:]: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)} == {
        ("GET", "/api/v1/contracts/{contract}/versions", "404"): 1,
        ("GET", "/api/v1/contracts/{contract}/versions", "200"): 1,
        ("POST", "/contracts", "201"): 1,
        ("HEAD", "/datasets", "200"): 1,
        ("DELETE", "/datasets", "405"): 1,
        ("GET", "/schema-registry/subjects/{subject}/versions", "404"): 1,
        ("GET", "none", "404"): 1,
        ("GET", "/metrics", "200"): 1,
    }


def test_the_duration_of_requests_is_a_histogram_by_route(client: httpx2.Client) -> None:
    client.get("/api/v1/overview")
    buckets = scrape(
        client, "treaty_http_request_duration_seconds_bucket", "treaty_http_request_duration_seconds_count"
    )

    assert buckets["treaty_http_request_duration_seconds_bucket", "+Inf", "GET", "/api/v1/overview"] == 1
    assert buckets["treaty_http_request_duration_seconds_count", "GET", "/api/v1/overview"] == 1


def test_strange_addresses_and_methods_add_no_series(client: httpx2.Client) -> None:
    for number in range(20):
        client.get(f"/no/such/address/{number}")
        client.request(f"METHOD{number}", f"/{number}")

    counted = scrape(client, "treaty_http_requests_total")
    assert {key[1:]: value for key, value in counted.items() if key[2] == "none"} == {
        ("GET", "none", "404"): 20,
        ("other", "none", "404"): 20,
    }


def test_measures_have_their_promise_and_state_and_lines_their_health(
    serve: Serve, open_registry: Callable[..., Registry], clock: Clock
) -> None:
    client = serve()
    registry = open_registry()
    registry.register(short("orders"))
    registry.measures.record(
        [
            Measure("orders@1", "freshness", AT, 7_200.0, "s", 3_600.0),
            Measure("orders@1", "volume", AT, 10.0, "rows"),
        ]
    )
    names = ["treaty_measure", "treaty_measure_promise", "treaty_measure_state", "treaty_health", "treaty_contracts"]
    names += ("treaty_incidents_open", "treaty_measured_timestamp_seconds", "treaty_metrics_omitted")
    line = ("orders", "orders@1")

    assert scrape(client, *names) == {
        ("treaty_measure", *line, "freshness", "s"): 7_200,
        ("treaty_measure", *line, "volume", "rows"): 10,
        ("treaty_measure_promise", *line, "freshness", "s"): 3_600,
        ("treaty_measure_state", *line, "freshness", "failing", "s"): 1,
        ("treaty_measure_state", *line, "freshness", "healthy", "s"): 0,
        ("treaty_measure_state", *line, "freshness", "warning", "s"): 0,
        ("treaty_measured_timestamp_seconds", *line): AT.timestamp(),
        ("treaty_health", *line, "failing"): 1,
        ("treaty_health", *line, "blocked"): 0,
        ("treaty_health", *line, "warning"): 0,
        ("treaty_health", *line, "healthy"): 0,
        ("treaty_incidents_open", *line, "failing"): 1,
        ("treaty_contracts", "failing"): 1,
        ("treaty_contracts", "blocked"): 0,
        ("treaty_contracts", "warning"): 0,
        ("treaty_contracts", "healthy"): 0,
        ("treaty_metrics_omitted", "measures"): 0,
        ("treaty_metrics_omitted", "lines"): 0,
    }

    clock.forward(days=31)
    assert scrape(client, "treaty_measure") == {}


def test_above_the_limit_the_worst_are_shown_and_the_rest_is_counted(
    serve: Serve, open_registry: Callable[..., Registry]
) -> None:
    client = serve(limits=Limits(metrics=2))
    registry = open_registry()
    for contract, age in (("a", 60.0), ("b", 7_200.0), ("c", 60.0), ("d", 3_500.0)):
        registry.register(short(contract))
        registry.measures.record([Measure(f"{contract}@1", "freshness", AT, age, "s", 3_600.0)])

    shown = scrape(client, "treaty_measure", "treaty_metrics_omitted", "treaty_contracts")
    assert shown == {
        ("treaty_measure", "b", "b@1", "freshness", "s"): 7_200,
        ("treaty_measure", "d", "d@1", "freshness", "s"): 3_500,
        ("treaty_metrics_omitted", "measures"): 2,
        ("treaty_metrics_omitted", "lines"): 2,
        ("treaty_contracts", "failing"): 1,
        ("treaty_contracts", "blocked"): 0,
        ("treaty_contracts", "warning"): 1,
        ("treaty_contracts", "healthy"): 2,
    }


def test_unfinished_writes_and_the_outbox_are_counted(open_registry: Callable[..., Registry]) -> None:
    registry = open_registry()
    registry.register(short("orders"))
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", team="growth")
    registry.notices.add_channel("growth", kind="log", target="growth")
    registry.register(short("orders", "1.0.1", description="Orders of the shop."))
    with running(create_app(registry)) as address, client_of(address) as client:
        assert scrape(client, "treaty_pending_writes")["treaty_pending_writes",] == 0
        go_on = threading.Event()
        writes = [registry.context.database.submit(lambda _: go_on.wait(30)) for _ in range(3)]
        waiting = scrape(client, "treaty_pending_writes", "treaty_database_up")
        go_on.set()
        for write in writes:
            write.result()
        outbox = scrape(client, "treaty_outbox_deliveries")

    assert waiting["treaty_pending_writes",] >= 3  # the probe of the database waits behind them
    assert waiting["treaty_database_up", "read"] == 1
    assert outbox == {("treaty_outbox_deliveries", "pending"): 1, ("treaty_outbox_deliveries", "dead"): 0}


def test_openmetrics_is_sent_to_those_who_accept_it(client: httpx2.Client) -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    answer = client.get("/metrics", headers={"Accept": accept})

    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    parsed = openmetrics.text_string_to_metric_families(answer.text)  # type: ignore[no-untyped-call]
    families = {family.name for family in parsed}
    assert {"treaty_http_requests", "treaty_server", "treaty_database_up"} <= families


def test_members_only_registries_show_no_metrics_to_strangers(serve: Serve) -> None:
    client = serve(access=AccessSettings(required=True, open_reading=False))

    assert client.get("/metrics").status_code == 401


def test_any_worker_answers_for_all_of_them(tmp_path: Path) -> None:
    with ServingProcess(str(tmp_path / "registry.db"), tmp_path / "log", "--workers", "2") as process:
        for _ in range(16):
            with client_of(process.address) as client:  # a new connection each, so that both workers get some
                assert client.get("/api/v1/overview").status_code == 200
        counts = set()
        for _ in range(8):
            with client_of(process.address) as client:
                found = scrape(client, "treaty_http_requests_total", "treaty_http_requests_in_progress")
            counts.add(found["treaty_http_requests_total", "GET", "/api/v1/overview", "200"])
            assert found["treaty_http_requests_in_progress",] == 1

    assert counts == {16}
