"""A client that costs little: raw HTTP/1.1 over kept connections, so that the server is what is measured."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HTTP = "HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@dataclass(frozen=True)
class Rate:
    """How fast requests were answered."""

    per_second: float
    p50: float
    p99: float


def contract(number: int, version: str = "1.0.0", more: int = 0) -> dict[str, Any]:
    """Return a contract of ten fields, or some more."""
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "string", "description": "the id of the row"},
        {"name": "at", "type": "timestamp"},
        {"name": "plan", "type": "string", "enum": ["free", "pro"]},
        *({"name": f"f{place}", "type": "number", "required": False} for place in range(7 + more)),
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
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"POST /contracts {_HTTP}{_signed(token)}{kind}\r\n".encode() + body


def get(path: str, token: str | None = None) -> bytes:
    """Return a request that reads something."""
    return f"GET {path} {_HTTP}{_signed(token)}\r\n".encode()


def _signed(token: str | None) -> str:
    return f"Authorization: Bearer {token}\r\n" if token else ""


def load(port: int, requests: list[bytes], clients: int) -> Rate:
    """Send requests from several clients, each waiting for its answer, and see that all succeed."""
    return asyncio.run(_load(port, requests, clients))


async def _load(port: int, requests: list[bytes], clients: int) -> Rate:
    taken: list[float] = []
    waiting = iter(requests)
    began = time.perf_counter()
    await asyncio.gather(*(_client(port, waiting, taken) for _ in range(clients)))
    whole = time.perf_counter() - began
    taken.sort()
    return Rate(len(taken) / whole, taken[len(taken) // 2], taken[int(len(taken) * 0.99)])


async def _client(port: int, waiting: Iterator[bytes], taken: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for request in waiting:
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 2"):
                raise RuntimeError(f"not a success: {head[:80]!r}")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            taken.append(time.perf_counter() - began)
    finally:
        writer.close()
        await writer.wait_closed()
