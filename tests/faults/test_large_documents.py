"""Clients that check large documents do not block the others."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from statistics import median

import httpx2

from tests.server.contracts import USERS, short
from tests.server.running import ServingProcess, client_of

FIELDS = 10_000
STREAMS = 12
SECONDS = 6.0


def large(version: str) -> str:
    fields = [{"name": f"field_{number}", "type": "string", "description": "x" * 20} for number in range(FIELDS)]
    return json.dumps(short("large.contract", version, fields=fields, primary_key=["field_0"]))


def check_until(stop: threading.Event, address: str, statuses: set[int]) -> None:
    body = large("1.1.0")
    with client_of(address) as client:
        while not stop.is_set():
            answer = client.post("/contracts/check", content=body, headers={"Content-Type": "application/json"})
            statuses.add(answer.status_code)


def median_latency(client: httpx2.Client) -> float:
    latencies = []
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        started_at = time.perf_counter()
        assert client.get(f"/contracts/{USERS}/latest").status_code == 200
        latencies.append(time.perf_counter() - started_at)
        time.sleep(0.005)
    return median(latencies)


def latency_beside(streams: int, address: str, client: httpx2.Client) -> float:
    stop, statuses = threading.Event(), set[int]()
    threads = [threading.Thread(target=check_until, args=(stop, address, statuses)) for _ in range(streams)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)
        return median_latency(client)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        assert statuses == {200}


def test_twelve_clients_with_large_documents_disturb_hardly_more_than_one(tmp_path: Path) -> None:
    with (
        ServingProcess(str(tmp_path / "registry.db"), tmp_path / "log") as process,
        client_of(process.address) as client,
    ):
        assert client.post("/contracts", json=short()).status_code == 201
        headers = {"Content-Type": "application/json"}
        assert client.post("/contracts", content=large("1.0.0"), headers=headers).status_code == 201
        one = latency_beside(1, process.address, client)
        many = latency_beside(STREAMS, process.address, client)

    assert many < 6 * one + 0.02, f"median latency {one * 1e3:.1f} ms beside 1 stream, {many * 1e3:.1f} ms beside 12"
