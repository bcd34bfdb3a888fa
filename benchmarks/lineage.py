"""A flood of OpenLineage events: how many the server answers per second, each durable on SQLite before its answer."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

from benchmarks.http_load import LoadResult, contract, get, load, post, post_json
from benchmarks.servers import Server, treaty_server
from benchmarks.timing import table

_CONTRACTS = 1_000
_JOBS = 200
_EVENTS = 2_000
_BATCH = 100
_ROUNDS = 3
_GOAL = "1,000/s"


def run() -> str:
    """Register contracts, send events of many jobs one by one and in batches, and check that every one is stored."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(treaty_server(folder))
        load(server.port, [post(contract(number), server.token) for number in range(_CONTRACTS)], 16)
        server.sign_in()
        numbers = count()
        rows = [
            _floor(server),
            _measure(server, numbers, "single events, 50 clients", 1, 50),
            _measure(server, numbers, f"batches of {_BATCH}, 4 clients", _BATCH, 4),
        ]
        server.kill()
        stored = _count_events(Path(folder))
    header = ("OpenLineage events", "events/s", "p99 of a request", "server CPU per event", "goal")
    sent = next(numbers)
    return table(header, rows) + f"\n\n- after SIGKILL, {stored:,} of {sent:,} acknowledged events are stored"


def _measure(server: Server, numbers: Iterator[int], title: str, size: int, clients: int) -> tuple[str, ...]:
    results: list[LoadResult] = []
    cpu = server.cpu_seconds()
    for _ in range(_ROUNDS):
        requests = [_request(server, numbers, size) for _ in range(_EVENTS // size)]
        results.append(load(server.port, requests, clients))
    used = (server.cpu_seconds() - cpu) / (_ROUNDS * _EVENTS)
    rate = median(result.per_second for result in results) * size
    p99 = median(result.p99 for result in results)
    return title, f"{rate:,.0f}", f"{p99 * 1e3:.0f} ms", f"{used * 1e3:.2f} ms", _GOAL


def _floor(server: Server) -> tuple[str, ...]:
    """Measure requests that do nothing, for comparison: how fast the machine is at the moment."""
    cpu = server.cpu_seconds()
    results = [load(server.port, [get("/healthz", server.token)] * _EVENTS, 50) for _ in range(_ROUNDS)]
    used = (server.cpu_seconds() - cpu) / (_ROUNDS * _EVENTS)
    rate, p99 = median(result.per_second for result in results), median(result.p99 for result in results)
    return "floor: GET /healthz, 50 clients", f"{rate:,.0f}", f"{p99 * 1e3:.0f} ms", f"{used * 1e3:.2f} ms", ""


def _request(server: Server, numbers: Iterator[int], size: int) -> bytes:
    events = [_event(next(numbers)) for _ in range(size)]
    return post_json("/api/v1/lineage", json.dumps(events[0] if size == 1 else events).encode(), server.token)


def _event(number: int) -> dict[str, Any]:
    """Return the event of a job that reads four fields of a contract, with the facets of a usual client."""
    dataset = {"namespace": "treaty", "name": f"team{number % 100}.data_{number % _CONTRACTS}"}
    facet = {
        "_producer": "https://airflow.example.org",
        "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/x.json",
    }
    fields = [{"name": f"f{index}", "type": "number"} for index in range(7)]
    columns = {f"c{index}": {"inputFields": [{**dataset, "field": f"f{index}"}]} for index in range(4)}
    return {
        "eventType": "COMPLETE",
        "eventTime": datetime.now(UTC).isoformat(),
        "producer": "https://airflow.example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=number + 1)), "facets": {}},
        "job": {"namespace": "airflow", "name": f"dag_{number % _JOBS}.load", "facets": {}},
        "inputs": [{**dataset, "facets": {"schema": {**facet, "fields": fields}}}],
        "outputs": [
            {
                "namespace": "s3://reports",
                "name": f"daily/{number % _JOBS}",
                "facets": {"columnLineage": {**facet, "fields": columns}},
            }
        ],
    }


def _count_events(folder: Path) -> int:
    (file,) = folder.rglob("*.db")
    with closing(sqlite3.connect(file)) as connection:
        stored: int = connection.execute("SELECT count(*) FROM lineage_events").fetchone()[0]
    return stored
