"""Memory of a server under a mixed load on a fixed data set: `python -m benchmarks.soak --minutes 60`.

Prints the resident memory every minute, and at the end the slope over the second half of the run, in which all caches
are filled. The data set does not grow: registrations repeat documents that are registered already.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection

from benchmarks.http_load import contract
from benchmarks.servers import Server, treaty_server

_CONTRACTS = 500
_CLIENTS = 4
_LARGE_FIELDS = 2_000
_JSON = {"Content-Type": "application/json"}
_PAGE = {"Accept": "text/html"}


@dataclass(frozen=True)
class Call:
    """One request and the status of its response."""

    method: str
    path: str
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200

    def send(self, connection: HTTPConnection) -> None:
        """Send the request; raise if the status differs."""
        connection.request(self.method, self.path, self.body, self.headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != self.status:
            raise RuntimeError(f"{self.method} {self.path}: {response.status} {content[:200]!r}")


def _document(number: int, version: str = "1.0.0", extra_fields: int = 0) -> str:
    return json.dumps(contract(number, version, extra_fields))


def _data_set() -> Iterator[Call]:
    for number in range(_CONTRACTS):
        for version in ("1.0.0", "1.0.1"):
            yield Call("POST", "/contracts", _document(number, version), _JSON, 201)
        subscription = {
            "consumer": f"consumer-{number % 50}",
            "line": f"{contract(number)['dataset_id']}@1",
            "consumer_class": "operational_reporting",
            "fields": ["id", "plan"],
        }
        yield Call("PUT", "/api/v1/subscriptions", json.dumps(subscription), _JSON)


def _load() -> Iterator[Call]:
    """Yield requests for ever: reads, pages, judgements, one large document in a hundred, invalid requests."""
    for turn in itertools.count():
        number = turn * 7 % _CONTRACTS
        name = contract(number)["dataset_id"]
        yield Call("GET", f"/contracts/{name}/latest")
        yield Call("GET", f"/api/v1/contracts?q=plan&limit=20&name={name}")
        yield Call("POST", "/contracts/check", _document(number, "1.1.0", 1), _JSON)
        yield Call("POST", "/api/v1/impact", _document(number, "1.1.0", 1), _JSON)
        yield Call("GET", f"/api/v1/contracts/{name}/diff?before=1.0.0&after=1.0.1")
        yield Call("GET", f"/api/v1/graph?node={name}@1")
        yield Call("POST", "/api/v1/contracts", _document(number, "1.0.1"), _JSON)  # is registered already
        yield Call("GET", f"/?q={name}", headers=_PAGE)
        yield Call("GET", "/readyz")
        yield Call("GET", f"/contracts/{name}/versions/9.9.9", status=404)
        yield Call("POST", "/contracts/check", '{"dataset_id": "no", "fields": 1}', _JSON, 422)
        if turn % 10 == 0:
            yield Call("POST", "/contracts/check", _document(number, "1.1.0", _LARGE_FIELDS), _JSON)


def _run_client(port: int, deadline: float, sent: list[int], errors: list[Exception]) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        for count, call in enumerate(_load(), 1):
            if time.monotonic() > deadline or errors:
                sent.append(count)
                return
            call.send(connection)
    except Exception as error:
        errors.append(error)
    finally:
        connection.close()


def slope_per_hour(samples: list[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line through (seconds, megabytes), in megabytes per hour."""
    mean_x = sum(x for x, _ in samples) / len(samples)
    mean_y = sum(y for _, y in samples) / len(samples)
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    return 3_600 * sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread if spread else 0.0


def soak(server: Server, minutes: float, interval_s: float = 60.0) -> list[tuple[float, float]]:
    """Fill the server, load it, and return its memory over time."""
    filling = HTTPConnection("127.0.0.1", server.port, timeout=120)
    for call in _data_set():
        call.send(filling)
    filling.close()
    started_at = time.monotonic()
    deadline = started_at + minutes * 60
    sent: list[int] = []
    errors: list[Exception] = []
    clients = [
        threading.Thread(target=_run_client, args=(server.port, deadline, sent, errors)) for _ in range(_CLIENTS)
    ]
    for client in clients:
        client.start()
    samples = []
    while time.monotonic() < deadline and not errors:
        elapsed = time.monotonic() - started_at
        samples.append((elapsed, server.memory()))
        print(f"{elapsed / 60:5.1f} min  {samples[-1][1]:7.1f} MB", flush=True)
        time.sleep(min(interval_s, max(0.0, deadline - time.monotonic())))
    for client in clients:
        client.join()
    if errors:
        raise errors[0]
    samples.append((time.monotonic() - started_at, server.memory()))
    print(f"{samples[-1][0] / 60:5.1f} min  {samples[-1][1]:7.1f} MB  after {sum(sent):,} requests", flush=True)
    return samples


def main() -> None:
    """Run the soak test and print the slope."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, treaty_server(folder) as server:
        samples = soak(server, arguments.minutes)
    later = samples[len(samples) // 2 :]
    print(f"slope over the second half: {slope_per_hour(later):+.1f} MB per hour")


if __name__ == "__main__":
    main()
