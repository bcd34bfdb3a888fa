"""A cheap load generator: raw HTTP/1.1 over persistent connections, so that the server is what is measured."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HTTP = "HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@dataclass(frozen=True)
class LoadResult:
    """The rate and the latencies, in seconds, of a series of requests."""

    per_second: float
    p50: float
    p99: float


def contract(number: int, version: str = "1.0.0", extra_fields: int = 0) -> dict[str, Any]:
    """Return a contract with ten fields, plus extra ones."""
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "string", "description": "the id of the row"},
        {"name": "at", "type": "timestamp"},
        {"name": "plan", "type": "string", "enum": ["free", "pro"]},
        *({"name": f"f{index}", "type": "number", "required": False} for index in range(7 + extra_fields)),
    ]
    return {
        "dataset_id": f"team{number % 100}.data_{number}",
        "version": version,
        "status": "active",
        "primary_key": ["id"],
        "owners": [{"team": "growth", "contact": "#growth"}],
        "freshness_sla": {"max_lag_seconds": 86_400},
        "fields": fields,
    }


def post(document: dict[str, Any], token: str | None = None) -> bytes:
    """Return a request that registers a contract."""
    body = json.dumps({"contract": document, "compatibility": "backward"}).encode()
    return post_json("/contracts", body, token)


def post_json(path: str, body: bytes, token: str | None = None) -> bytes:
    """Return a POST request with a JSON body."""
    headers = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"POST {path} {_HTTP}{_authorization(token)}{headers}\r\n".encode() + body


def get(path: str, token: str | None = None) -> bytes:
    """Return a GET request."""
    return f"GET {path} {_HTTP}{_authorization(token)}\r\n".encode()


def _authorization(token: str | None) -> str:
    return f"Authorization: Bearer {token}\r\n" if token else ""


def load(port: int, requests: list[bytes], clients: int) -> LoadResult:
    """Send requests from several clients, each waiting for its response; raise if one fails."""
    return asyncio.run(_load(port, requests, clients))


async def _load(port: int, requests: list[bytes], clients: int) -> LoadResult:
    latencies: list[float] = []
    remaining = iter(requests)
    started_at = time.perf_counter()
    await asyncio.gather(*(_run_client(port, remaining, latencies) for _ in range(clients)))
    elapsed = time.perf_counter() - started_at
    latencies.sort()
    return LoadResult(len(latencies) / elapsed, latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)])


async def _run_client(port: int, remaining: Iterator[bytes], latencies: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for request in remaining:
            started_at = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 2"):
                raise RuntimeError(f"not a success: {head[:80]!r}")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            latencies.append(time.perf_counter() - started_at)
    finally:
        writer.close()
        await writer.wait_closed()
