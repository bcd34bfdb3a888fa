"""The official Python client of OpenLineage sends events to the server unchanged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from openlineage.client import OpenLineageClient
from openlineage.client import facet_v2 as facets
from openlineage.client.event_v2 import (
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    StaticDataset,
)
from openlineage.client.transport.http import HttpConfig, HttpTransport

from tests.registry.backends import Served, bearer_of, serving
from tests.registry.offers import orders
from treaty.registry.service import Registry

SERVER = {"server": "s", "type": "postgresql", "host": "db", "port": 5432, "database": "shop", "schema": "public"}
TABLE = ("postgres://db:5432", "shop.public.orders")
TOKEN = bearer_of("airflow", "contributor", "analytics")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with Registry.open(str(tmp_path / "registry.db")) as opened:
        opened.register(orders(servers=[SERVER]))
        yield opened


@pytest.fixture
def server(registry: Registry) -> Iterator[Served]:
    with serving(registry) as served:
        yield served


def client(server: Served, token: str = TOKEN, **config: Any) -> OpenLineageClient:
    values = {"url": server.url, "auth": {"type": "api_key", "apiKey": token}, **config}
    return OpenLineageClient(transport=HttpTransport(HttpConfig.from_dict(values)))


def run_event(job: str = "dashboard", run: int = 1) -> RunEvent:
    lineage = facets.column_lineage_dataset
    used = lineage.ColumnLineageDatasetFacet(
        fields={"total": lineage.Fields(inputFields=[lineage.InputField(*TABLE, "ltv")])}
    )
    return RunEvent(
        eventType=RunState.COMPLETE,
        eventTime=datetime.now(UTC).isoformat(),
        run=Run(str(UUID(int=run))),
        job=Job("airflow", job),
        inputs=[InputDataset(*TABLE)],
        outputs=[OutputDataset("file", "/reports", facets={"columnLineage": used})],
        producer="https://airflow.example.org",
    )


def usage(registry: Registry) -> list[tuple[str, str, list[str], str]]:
    return [(one.consumer, one.line, one.fields, one.reported_by) for one in registry.lineage.usage().items]


@pytest.mark.parametrize("config", [{}, {"compression": "gzip"}], ids=["plain", "gzip"])
def test_run_event_of_the_python_client_is_taken(registry: Registry, server: Served, config: dict[str, Any]) -> None:
    client(server, **config).emit(run_event())

    assert usage(registry) == [("dashboard", "orders@1", ["ltv"], "airflow")]


def test_job_event_and_dataset_event_are_taken(registry: Registry, server: Served) -> None:
    at, producer = datetime.now(UTC).isoformat(), "https://dbt.example.org"
    job = JobEvent(eventTime=at, job=Job("dbt", "model"), inputs=[InputDataset(*TABLE)], producer=producer)
    dataset = DatasetEvent(eventTime=at, dataset=StaticDataset(*TABLE), producer=producer)

    client(server).emit(job)
    client(server).emit(dataset)

    assert usage(registry) == [("model", "orders@1", [], "airflow")]


def test_time_without_a_zone_is_utc(registry: Registry, server: Served) -> None:
    event = run_event()
    event.eventTime = "2026-01-02T03:04:05.678"

    client(server).emit(event)

    assert registry.lineage.usage().items[0].last_seen == datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


def send(server: Served, body: Any, path: str = "/api/v1/lineage", **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
    return httpx2.post(f"{server.url}{path}", content=content, headers=fields)


def event(run: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-02T03:04:05Z",
        "producer": "https://airflow.example.org",
        "run": {"runId": str(UUID(int=run))},
        "job": {"namespace": "airflow", "name": "dashboard"},
        "inputs": [{"namespace": TABLE[0], "name": TABLE[1]}],
        **changes,
    }


def test_batch_names_the_events_that_are_not_valid(registry: Registry, server: Served) -> None:
    answer = send(server, [event(), {**event(2), "run": {"runId": "7"}}, event(3)], "/api/v1/lineage/batch")

    assert answer.status_code == 200
    assert answer.json()["status"] == "partial_success"
    assert answer.json()["summary"] == {
        "received": 3,
        "successful": 2,
        "failed": 1,
        "retriable": 0,
        "non_retriable": 1,
    }
    (failed,) = answer.json()["failed_events"]
    assert (failed["index"], "run.runId" in failed["reason"]) == (1, True)


def test_batch_of_anything_but_objects_is_refused(server: Served) -> None:
    answer = send(server, [event(), 7], "/api/v1/lineage/batch")

    assert answer.status_code == 422
    assert answer.json()["detail"] == "event 1 is not an object; send a list of OpenLineage events"


@pytest.mark.parametrize(
    ("body", "headers", "message"),
    [
        (b"{", {}, "the body is not JSON"),
        (7, {}, "the event is not an object; send an OpenLineage event"),
        ({}, {}, "the event has neither run, job nor dataset"),
        ([event(), {"run": 7}], {}, "event 1 is not a valid OpenLineage event: eventTime: field required"),
        (b"no gzip", {"Content-Encoding": "gzip"}, "the body is not valid gzip"),
        (gzip.compress(b" " * 17_000_000), {"Content-Encoding": "gzip"}, "larger than 16,000,000 bytes"),
        (event(), {"Content-Encoding": "br"}, "the content encoding 'br' is not supported"),
        ([event()] * 1_001, {}, "1,001 events at once; send 1,000 at most"),
    ],
    ids=["json", "number", "empty", "second", "gzip", "bomb", "encoding", "many"],
)
def test_bad_events_are_refused(server: Served, body: Any, headers: dict[str, str], message: str) -> None:
    answer = send(server, body, **headers)

    assert answer.status_code == 422
    assert message in answer.json()["detail"]


@pytest.mark.parametrize(("token", "status"), [(None, 401), (bearer_of("guest", "viewer"), 403)])
def test_events_need_a_token_that_may_write(server: Served, token: str | None, status: int) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    answer = httpx2.post(f"{server.url}/api/v1/lineage", json=event(), headers=headers)

    assert answer.status_code == status


def test_private_contract_is_not_told_to_a_stranger(registry: Registry, server: Served) -> None:
    hidden = {"server": "s", "type": "custom", "location": "s3://vault/salaries"}
    private = {**orders(servers=[hidden], visibility={"teams": ["people"]}), "id": "salaries"}
    registry.register(private)

    answer = send(server, event(inputs=[{"namespace": "s3://vault", "name": "salaries"}]))
    listed = httpx2.get(f"{server.url}/api/v1/usage", headers={"Authorization": f"Bearer {TOKEN}"})

    assert answer.json()["unresolved"] == ["s3://vault salaries"]
    assert listed.json()["items"] == []
    assert [one[1] for one in usage(registry)] == ["salaries@1"]
