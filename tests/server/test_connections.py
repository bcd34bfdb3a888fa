"""The express lane on the wire: what is asked most is answered where it arrives, as the routes would."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml
from structlog.testing import capture_logs

from tests.server.conftest import Serve
from tests.server.contracts import USERS, odcs, short
from tests.server.running import client_of, running
from treaty.registry.local import Registry
from treaty.server.app import create_app
from treaty.server.settings import Limits

LATEST = f"/contracts/{USERS}/latest"


def request(ask: str, body: dict[str, Any] | None = None, version: str = "1.1", **headers: str) -> bytes:
    """Return a request as it stands on the wire."""
    content = b"" if body is None else json.dumps(body).encode()
    said = {"Host": "localhost"} | (
        {"Content-Type": "application/json", "Content-Length": str(len(content))} if body else {}
    )
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{ask} HTTP/{version}", *(f"{name}: {value}" for name, value in said.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@contextmanager
def connected(client: httpx2.Client) -> Iterator[socket.socket]:
    """Connect to a client's server, without anything between."""
    where = urlsplit(str(client.base_url))
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        yield connection


def said(connection: socket.socket) -> bytes:
    """Return everything that is said until the other side hangs up."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


@contextmanager
def locked(folder: Path) -> Iterator[sqlite3.Connection]:
    """Keep everybody else from writing to the registry in a folder, until it is rolled back."""
    lock = sqlite3.connect(folder / "registry.db", isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield lock
    finally:
        lock.close()


def statuses(answers: bytes) -> list[int]:
    """Return the status of each answer, in order."""
    return [int(part.split(b" ", 1)[0]) for part in answers.split(b"HTTP/1.1 ")[1:]]


@pytest.fixture
def no_framework(client: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> httpx2.Client:
    """A client of a server whose framework answers nothing."""

    async def fail(*_: object) -> None:
        raise AssertionError("the framework was asked")

    monkeypatch.setattr("treaty.server.middleware.Gate.__call__", fail)
    return client


def test_what_is_asked_plainly_does_not_reach_the_framework(no_framework: httpx2.Client) -> None:
    assert no_framework.post("/contracts", json=short()).status_code == 201
    assert no_framework.get(LATEST).json()["dataset_id"] == USERS
    assert no_framework.get(LATEST).status_code == 200  # at hand by now
    assert no_framework.get("/contracts/nobody/latest").status_code == 404
    assert no_framework.post("/contracts", json=short()).status_code == 400


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(request(f"GET {LATEST}?format=odcs"), id="another form"),
        pytest.param(request(f"GET {LATEST}", Accept="application/yaml"), id="another kind"),
        pytest.param(request(f"GET {LATEST}", Authorization="Bearer x"), id="signed in"),
        pytest.param(request(f"GET {LATEST}", Host="evil.example.org"), id="by another name"),
        pytest.param(request("POST /contracts", short(description="x" * 60_000)), id="a large document"),
        pytest.param(request("POST /contracts", short(), Content_Type="text/plain"), id="no document"),
        pytest.param(request(f"HEAD {LATEST}"), id="the head alone"),
        pytest.param(request(f"GET {LATEST}", Content_Length="3") + b"odd", id="a question with a body"),
        pytest.param(request("POST /contracts/check", short()), id="another path"),
        pytest.param(request("GET /contracts/latest"), id="no contract"),
        pytest.param(request("GET /contracts/a%0Ab/latest"), id="a name of two lines"),
        pytest.param(request(f"GET {LATEST}", accept="*/*", Accept="application/yaml"), id="a header twice"),
    ],
)
def test_everything_else_is_left_to_the_framework(no_framework: httpx2.Client, ask: bytes) -> None:
    no_framework.post("/contracts", json=short())

    with connected(no_framework) as connection:
        connection.sendall(ask)
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 500 ")
    assert answer.endswith((b"Internal Server Error", b"\r\n\r\n"))  # what uvicorn says where an app fails


def test_an_answer_has_every_header_that_others_have(client: httpx2.Client) -> None:
    plain = client.post("/contracts", json=short(), headers={"X-Request-Id": "of-the-caller"})
    routed = client.post("/contracts", json=odcs(), headers={"Accept": "application/json, */*"})

    assert plain.headers["x-request-id"] == "of-the-caller"
    assert plain.headers.keys() == routed.headers.keys()
    for name in ("content-type", "x-content-type-options", "server"):
        assert plain.headers.get(name) == routed.headers.get(name)


def test_every_request_has_one_line_in_the_log(client: httpx2.Client) -> None:
    with capture_logs() as logs:
        answers = [client.post("/contracts", json=short()), client.get(LATEST), client.get("/contracts/nobody/latest")]

    lines = [line for line in logs if line["event"] == "request"]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("POST", "/contracts", 201),
        ("GET", LATEST, 200),
        ("GET", "/contracts/nobody/latest", 404),
    ]
    assert [line["request_id"] for line in lines] == [answer.headers["x-request-id"] for answer in answers]


def test_requests_in_one_go_are_answered_in_their_order(client: httpx2.Client) -> None:
    asks = [
        request("POST /contracts", short()),
        request(f"GET {LATEST}"),
        request("HEAD /healthz"),  # by the framework, which sends a head alone
        request(f"GET {LATEST}"),
        request("GET /datasets"),
        request("POST /contracts", short(version="1.1.0")),
        request("GET /contracts/nobody/latest", Connection="close"),
    ]
    with connected(client) as connection:
        connection.sendall(b"".join(asks))
        answers = said(connection)

    assert statuses(answers) == [201, 200, 405, 200, 200, 201, 404]


@pytest.mark.parametrize(
    ("ask", "status"), [(request("POST /contracts", short()), 201), (request("GET /contracts/nobody/latest"), 404)]
)
@pytest.mark.parametrize(("version", "connection"), [("1.1", "close"), ("1.0", "")])
def test_who_wants_nothing_more_is_hung_up_on(
    client: httpx2.Client, ask: bytes, status: int, version: str, connection: str
) -> None:
    ask = ask.replace(b"HTTP/1.1", f"HTTP/{version}".encode())
    if connection:
        ask = ask.replace(b"\r\n\r\n", f"\r\nConnection: {connection}\r\n\r\n".encode(), 1)
    with connected(client) as line:
        line.sendall(ask)
        answer = said(line)

    assert statuses(answer) == [status]
    assert b"\r\nconnection: close\r\n" in answer


def test_a_body_in_drops_is_put_together(no_framework: httpx2.Client) -> None:
    ask = request("POST /contracts", short(), Connection="close")
    with connected(no_framework) as connection:
        for start in range(0, len(ask), 100):
            connection.sendall(ask[start : start + 100])
        answer = said(connection)

    assert statuses(answer) == [201]


def test_many_requests_in_one_go_are_answered_one_after_the_other(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())
    many = b"".join([request("POST /contracts", short("another")), *[request(f"GET {LATEST}")] * 2_000])
    whole = many + request(f"GET {LATEST}", Connection="close")
    with connected(client) as connection:
        sending = threading.Thread(target=connection.sendall, args=(whole,))
        sending.start()
        answers = said(connection)
        sending.join()

    assert statuses(answers) == [201, *[200] * 2_001]


def test_a_question_with_a_large_body_is_answered(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())

    answer = client.request("GET", LATEST, content=b" " * 300_000)

    assert (answer.status_code, answer.json()["dataset_id"]) == (200, USERS)


def test_what_goes_wrong_at_the_entrance_of_the_lane_is_left_to_the_routes(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr("treaty.server.express.Express.asked", fail)
    with capture_logs() as logs:
        assert client.post("/contracts", json=short()).status_code == 201

    assert [line["event"] for line in logs] == ["mistake", "request"]


def test_who_asks_whether_to_go_on_is_told_so(client: httpx2.Client) -> None:
    head, _, body = request("POST /contracts", short(), Expect="100-continue", Connection="close").partition(
        b"\r\n\r\n"
    )
    with connected(client) as connection:
        connection.sendall(head + b"\r\n\r\n")
        told = connection.recv(1_000)
        connection.sendall(body)
        answer = said(connection)

    assert told == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert statuses(answer) == [201]


def test_who_asks_for_more_in_the_same_packet_is_not_hung_up_on_meanwhile(
    open_registry: Callable[..., Registry], tmp_path: Path
) -> None:
    app = create_app(open_registry())
    with running(app, timeout_keep_alive=0.1) as address, client_of(address) as client:
        client.post("/contracts", json=short())
        client.get(LATEST)
        with locked(tmp_path) as lock, connected(client) as connection:
            asks = [request(f"GET {LATEST}"), request("POST /contracts", short("another"), Connection="close")]
            connection.sendall(b"".join(asks))  # the first is at hand, and answered before the second is looked at
            threading.Timer(0.4, lock.rollback).start()
            answers = said(connection)

    assert statuses(answers) == [200, 201]


def test_a_server_that_stops_takes_back_what_is_not_begun(
    open_registry: Callable[..., Registry], tmp_path: Path
) -> None:
    registry = open_registry()
    with ExitStack() as stack, locked(tmp_path) as lock:
        address = stack.enter_context(running(create_app(registry), timeout_graceful_shutdown=0.2))
        with client_of(address) as client, connected(client) as begun, connected(client) as waiting:
            client.get("/datasets")
            begun.sendall(request("POST /contracts", short("begun")))
            assert client.get("/healthz").status_code == 200
            waiting.sendall(request("POST /contracts", short("waiting")))
            assert client.get("/healthz").status_code == 200
            stopping = threading.Thread(target=stack.close)
            stopping.start()
            answers = [said(begun), said(waiting)]
            lock.rollback()
            stopping.join()

    assert [statuses(answer) for answer in answers] == [[503], [503]]
    assert all(b"about to stop" in answer for answer in answers)
    assert "waiting" not in registry.datasets().items


def test_a_log_that_cannot_be_written_upsets_no_connection(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("treaty.server.connections.log_request", fail)
    with connected(client) as connection:
        asks = [
            request("POST /contracts", short()),
            request(f"GET {LATEST}"),
            request(f"GET {LATEST}", Connection="close"),
        ]
        connection.sendall(b"".join(asks))
        answers = said(connection)

    assert statuses(answers) == [201, 200, 200]


def test_a_body_that_does_not_come_is_given_up(serve: Serve) -> None:
    client = serve(limits=Limits(seconds=0.3))
    with connected(client) as connection:
        connection.sendall(request("POST /contracts", short(), Connection="close")[:-10])
        answer = said(connection)

    assert statuses(answer) == [503]
    assert b"no answer within 0.3 seconds" in answer
    assert b"retry-after: 2" in answer
    assert client.get("/datasets").json() == {"datasets": []}


def test_half_a_document_from_somebody_who_left_is_not_registered(client: httpx2.Client) -> None:
    half = yaml.safe_dump(short()).encode()
    ask = request("POST /contracts", Content_Type="application/yaml", Content_Length=str(len(half) + 1)) + half
    with capture_logs() as logs:
        with connected(client) as connection:
            connection.sendall(ask)
        while not logs:  # a line for who left, at once
            assert client.get("/healthz").status_code == 200

    assert [(line["path"], line["status"]) for line in logs] == [("/contracts", None)]
    assert client.get("/datasets").json() == {"datasets": []}


def test_a_document_from_somebody_who_did_not_wait_harms_nobody(client: httpx2.Client) -> None:
    for number in range(20):
        with connected(client) as connection:
            connection.sendall(request("POST /contracts", short(f"left.{number}")))

    assert client.post("/contracts", json=short()).status_code == 201
    assert USERS in client.get("/datasets").json()["datasets"]


@pytest.mark.parametrize(("method", "ask"), [("submit", "POST /contracts"), ("ask_latest", f"GET {LATEST}")])
def test_a_mistake_of_ours_is_told_without_its_words(
    no_framework: httpx2.Client, monkeypatch: pytest.MonkeyPatch, method: str, ask: str
) -> None:
    secret = "-".join(["whsec", "very", "private"])

    def fail(*_: object) -> None:
        raise KeyError(secret)

    monkeypatch.setattr(f"treaty.registry.local.Registry.{method}", fail)
    with capture_logs() as logs:
        answer = no_framework.request(*ask.split(" "), json=short() if method == "submit" else None)

    assert answer.status_code == 500
    assert "its log has the details under this request's id" in answer.json()["detail"]
    (mistake,) = (line for line in logs if line["event"] == "mistake")
    assert (mistake["error"], mistake["request_id"]) == ("KeyError", answer.headers["x-request-id"])
    assert secret not in f"{logs}{answer.text}"
