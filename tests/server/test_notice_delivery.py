"""Notices outlive the process that made them: signed, in order, and at least once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.registry.notices.receivers import TIMEOUT_S, Received, WebReceiver, web_receiver
from tests.server.contracts import USERS, short
from tests.server.running import ServingProcess, client_of
from treaty.registry.notices.senders import SIGNATURE_HEADER, verify

SECRET = "whsec-0123456789abcdef"  # noqa: S105
LEASE_OVER = 600


@pytest.fixture
def receiver() -> Iterator[WebReceiver]:
    with web_receiver() as one:
        yield one


def take_in(process: ServingProcess, url: str, contracts: list[str], versions: int) -> None:
    """Let a server have a channel, and things to tell."""
    with client_of(process.address) as client:
        channel = {"party": "growth", "kind": "webhook", "target": url, "secret": SECRET}
        assert client.post("/api/v1/channels", json=channel).status_code == 201
        for number in range(versions):
            for contract in contracts:
                assert client.post("/contracts", json=short(contract, f"1.0.{number}")).status_code == 201


def arrivals(receiver: WebReceiver, number: int) -> list[Received]:
    return [receiver.arrivals.get(timeout=TIMEOUT_S) for _ in range(number)]


def told(received: list[Received], contract: str) -> list[str]:
    return [body["version"] for body in map(Received.json, received) if body["contract"] == contract]


def test_committed_notices_are_sent_by_the_next_process(database: str, tmp_path: Path, receiver: WebReceiver) -> None:
    contracts = [USERS, "sales.orders"]
    with ServingProcess(database, tmp_path / "log", "--no-delivery") as process:
        take_in(process, receiver.url, contracts, versions=3)
        process.kill()
    assert receiver.received == []

    with ServingProcess(database, tmp_path / "log") as process, client_of(process.address) as client:
        received = arrivals(receiver, 6)
        notices = client.get("/api/v1/notices").json()["items"]

    now = datetime.now(UTC)
    for one in received:
        assert verify(SECRET, one.headers[SIGNATURE_HEADER], one.body, now)
        assert not verify("whsec-another-secret", one.headers[SIGNATURE_HEADER], one.body, now)
        assert not verify(SECRET, one.headers[SIGNATURE_HEADER], one.body + b" ", now)
    for contract in contracts:
        assert told(received, contract) == ["1.0.0", "1.0.1", "1.0.2"]
    assert {one.headers["Treaty-Notice-Id"] for one in received} == {one["id"] for one in notices}


def test_interrupted_deliveries_are_sent_again_with_the_same_id(tmp_path: Path) -> None:
    database = str(tmp_path / "registry.db")
    with _holding_receiver() as receiver:
        with ServingProcess(database, tmp_path / "log") as process:
            take_in(process, receiver.url, [USERS], versions=1)
            first = receiver.arrivals.get(timeout=TIMEOUT_S)  # it is committed and sent, and nobody has answered
            process.kill()
        receiver.let_go.set()

        with ServingProcess(database, tmp_path / "log", "--clock-ahead", str(LEASE_OVER)):
            second = receiver.arrivals.get(timeout=TIMEOUT_S)

    assert second.headers["Treaty-Notice-Id"] == first.headers["Treaty-Notice-Id"]
    assert second.body == first.body
    later = datetime.now(UTC) + timedelta(seconds=LEASE_OVER)
    assert verify(SECRET, second.headers[SIGNATURE_HEADER], second.body, later)


@dataclass
class _HoldingReceiver:
    """Keeps what it receives, and answers once it is let go."""

    url: str
    arrivals: Queue[Received] = field(default_factory=Queue)
    let_go: threading.Event = field(default_factory=threading.Event)


@contextmanager
def _holding_receiver() -> Iterator[_HoldingReceiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            held.arrivals.put(Received(self.path, dict(self.headers), body))
            held.let_go.wait(TIMEOUT_S)
            with suppress(ConnectionError):
                self.send_response(200)
                self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        held = _HoldingReceiver(f"http://127.0.0.1:{server.server_port}/hook")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield held
        finally:
            held.let_go.set()
            server.shutdown()
            thread.join()
