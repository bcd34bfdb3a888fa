"""The server on the wire: pipelining, connection handling, request logging and shutdown."""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from select import select
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml
from structlog.testing import capture_logs

from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from tests.server.running import ServingProcess, client_of, running
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.settings import Limits

LATEST = f"/contracts/{USERS}/latest"


def request(line: str, body: dict[str, Any] | None = None, version: str = "1.1", **headers: str) -> bytes:
    """Return the bytes of an HTTP request."""
    content = b"" if body is None else json.dumps(body).encode()
    fields = {"Host": "localhost"}
    if body:
        fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{line} HTTP/{version}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@contextmanager
def connected(client: httpx2.Client) -> Iterator[socket.socket]:
    """Open a plain socket to a client's server."""
    where = urlsplit(str(client.base_url))
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    """Return everything that the server sends until it closes the connection.

    A server that closes a connection whose request it has not read completely resets it; what it sent is still read.
    """
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


@contextmanager
def write_locked(folder: Path) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of the registry in a folder until it is rolled back."""
    lock = sqlite3.connect(folder / "registry.db", isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield lock
    finally:
        lock.close()


def statuses(responses: bytes) -> list[int]:
    """Return the status of each response, in order."""
    return [int(part.split(b" ", 1)[0]) for part in responses.split(b"HTTP/1.1 ")[1:]]


def test_every_request_is_logged_once(client: httpx2.Client) -> None:
    with capture_logs() as logs:
        responses = [
            client.post("/contracts", json=short()),
            client.get(LATEST),
            client.get("/contracts/nobody/latest"),
        ]

    lines = [line for line in logs if line["event"] == "request"]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("POST", "/contracts", 201),
        ("GET", LATEST, 200),
        ("GET", "/contracts/nobody/latest", 404),
    ]
    assert [line["request_id"] for line in lines] == [response.headers["x-request-id"] for response in responses]


def test_pipelined_requests_are_answered_in_order(client: httpx2.Client) -> None:
    requests = [
        request("POST /contracts", short()),
        request(f"GET {LATEST}"),
        request("HEAD /healthz"),
        request(f"GET {LATEST}"),
        request("GET /datasets"),
        request("POST /contracts", short(version="1.1.0")),
        request("GET /contracts/nobody/latest", Connection="close"),
    ]
    with connected(client) as connection:
        connection.sendall(b"".join(requests))
        responses = read_to_end(connection)

    assert statuses(responses) == [201, 200, 200, 200, 200, 201, 404]


@pytest.mark.parametrize(
    ("message", "status"), [(request("POST /contracts", short()), 201), (request("GET /contracts/nobody/latest"), 404)]
)
@pytest.mark.parametrize(("version", "connection"), [("1.1", "close"), ("1.0", "")])
def test_connection_is_closed_on_request(
    client: httpx2.Client, message: bytes, status: int, version: str, connection: str
) -> None:
    message = message.replace(b"HTTP/1.1", f"HTTP/{version}".encode())
    if connection:
        message = message.replace(b"\r\n\r\n", f"\r\nConnection: {connection}\r\n\r\n".encode(), 1)
    with connected(client) as line:
        line.sendall(message)
        response = read_to_end(line)

    assert statuses(response) == [status]
    assert b"\r\nconnection: close\r\n" in response.lower()


def test_body_in_small_packets_is_joined(client: httpx2.Client) -> None:
    message = request("POST /contracts", short(), Connection="close")
    with connected(client) as connection:
        for start in range(0, len(message), 100):
            connection.sendall(message[start : start + 100])
        response = read_to_end(connection)

    assert statuses(response) == [201]


def test_body_of_a_get_request_is_ignored(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())

    response = client.request("GET", LATEST, content=b" " * 300_000)

    assert (response.status_code, response.json()["dataset_id"]) == (200, USERS)


def test_expect_continue_is_answered(client: httpx2.Client) -> None:
    message = request("POST /contracts", short(), Expect="100-continue", Connection="close")
    head, _, body = message.partition(b"\r\n\r\n")
    with connected(client) as connection:
        connection.sendall(head + b"\r\n\r\n")
        interim = connection.recv(1_000)
        connection.sendall(body)
        response = read_to_end(connection)

    assert interim.startswith(b"HTTP/1.1 100 ")
    assert statuses(response) == [201]


def test_oversized_headers_are_refused(client: httpx2.Client) -> None:
    with connected(client) as connection:
        connection.sendall(request(f"GET {LATEST}", X_Padding="x" * 100_000).rstrip())  # never ends
        response = read_to_end(connection)

    assert statuses(response) == [400]


def test_shutdown_cancels_queued_writes(open_registry: Callable[..., Registry], tmp_path: Path) -> None:
    registry = open_registry()
    with ExitStack() as stack, write_locked(tmp_path) as lock:
        address = stack.enter_context(running(create_app(registry), timeout_graceful_shutdown=1))
        with client_of(address) as client, connected(client) as begun, connected(client) as queued:
            client.get("/datasets")
            begun.sendall(request("POST /contracts", short("begun")))
            assert client.get("/healthz").status_code == 200
            queued.sendall(request("POST /contracts", short("queued")))
            assert client.get("/healthz").status_code == 200
            stopping = threading.Thread(target=stack.close)
            stopping.start()
            responses = [read_to_end(begun), read_to_end(queued)]
            lock.rollback()
            stopping.join()

    assert [statuses(response) for response in responses] == [[503], [503]]
    assert all(b"the server is shutting down" in response for response in responses)
    assert "queued" not in registry.datasets().items


@pytest.fixture
def limited_server(tmp_path: Path) -> Iterator[httpx2.Client]:
    """Run `run_server` itself, in a process of its own, with low limits."""
    limits = ("--head-limit", "4096", "--keep-alive", "1", "--connections", "3", "--body-timeout", "1")
    with (
        ServingProcess(str(tmp_path / "limited.db"), tmp_path / "log", *limits) as process,
        client_of(process.address) as client,
    ):
        yield client


def test_limits_of_connections_are_applied(limited_server: httpx2.Client) -> None:
    with connected(limited_server) as connection:
        connection.sendall(request("GET /healthz", X_Padding="x" * 5_000).rstrip())
        assert statuses(read_to_end(connection)) == [400]

    with connected(limited_server) as connection:
        connection.sendall(request("GET /healthz"))
        assert statuses(read_to_end(connection)) == [200]  # ends only because the server closes the idle connection

    with connected(limited_server) as connection:
        connection.sendall(request("POST /contracts", short())[:-10])
        assert statuses(read_to_end(connection)) == [408]

    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connected(limited_server)).sendall(b"GET /healthz HTTP/1.1\r\n")
        last = stack.enter_context(connected(limited_server))
        last.sendall(request("GET /healthz", Connection="close"))
        assert statuses(read_to_end(last)) == [503]


def test_slow_body_is_refused_as_a_whole(serve: Serve) -> None:
    client = serve(limits=Limits(body_seconds=0.5))
    message = request("POST /api/v1/can-i-publish", short(), Connection="close")
    with connected(client) as connection:
        connection.sendall(message[:-60])
        for byte in message[-60:-1]:  # each byte arrives in time, all of them do not
            if select([connection], [], [], 0.05)[0]:
                break
            connection.sendall(bytes([byte]))
        response = read_to_end(connection)

    assert statuses(response) == [408]
    assert b"the body did not arrive within 0.5 seconds" in response
    assert client.get("/datasets").json() == {"datasets": []}


def test_missing_body_times_out(serve: Serve) -> None:
    client = serve(limits=Limits(seconds=0.3))
    with connected(client) as connection:
        connection.sendall(request("POST /contracts", short(), Connection="close")[:-10])
        response = read_to_end(connection)

    assert statuses(response) == [503]
    assert b"no answer within 0.3 seconds" in response
    assert b"retry-after: 2" in response
    assert client.get("/datasets").json() == {"datasets": []}


def test_incomplete_document_is_not_registered(client: httpx2.Client) -> None:
    half = yaml.safe_dump(short()).encode()
    message = request("POST /contracts", Content_Type="application/yaml", Content_Length=str(len(half) + 1)) + half
    with capture_logs() as logs:
        with connected(client) as connection:
            connection.sendall(message)
        while not logs:  # logged as soon as the client disconnects
            assert client.get("/healthz").status_code == 200

    assert [(line["path"], line["status"]) for line in logs] == [("/contracts", None)]
    assert client.get("/datasets").json() == {"datasets": []}


def test_clients_that_do_not_wait_do_not_disturb_others(client: httpx2.Client) -> None:
    for number in range(20):
        with connected(client) as connection:
            connection.sendall(request("POST /contracts", short(f"left.{number}")))

    assert client.post("/contracts", json=short()).status_code == 201
    assert USERS in client.get("/datasets").json()["datasets"]


@pytest.mark.parametrize(("method", "line"), [("submit_new", "POST /contracts"), ("latest_json", f"GET {LATEST}")])
def test_internal_error_does_not_leak_its_message(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, method: str, line: str
) -> None:
    secret = "-".join(["whsec", "very", "private"])

    def fail(*_: object, **__: object) -> None:
        raise KeyError(secret)

    monkeypatch.setattr(f"treaty.registry.service.Registry.{method}", fail)
    with capture_logs() as logs:
        response = client.request(*line.split(" "), json=short() if method == "submit_new" else None)

    assert response.status_code == 500
    assert "the server's log has the details under this request's id" in response.json()["detail"]
    (logged,) = (entry for entry in logs if entry["event"] == "internal_error")
    assert (logged["error"], logged["request_id"]) == ("KeyError", response.headers["x-request-id"])
    assert secret not in f"{logs}{response.text}"


UPGRADES = {
    "h2c": {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAEAAEAAAAIAAAABAAMAAABk"},
    "websocket": {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"},
    "unknown": {"Connection": "keep-alive, Upgrade", "Upgrade": "something/1.0"},
    "without a protocol": {"Connection": "Upgrade"},
}


@pytest.mark.parametrize("headers", UPGRADES.values(), ids=UPGRADES)
def test_body_of_a_request_that_offers_an_upgrade_arrives_as_sent(
    client: httpx2.Client, headers: dict[str, str]
) -> None:
    with connected(client) as connection:
        connection.sendall(
            request("POST /contracts", short(), **headers) + request(f"GET {LATEST}", Connection="close")
        )
        responses = read_to_end(connection)

    assert statuses(responses) == [201, 200]
    assert [field["name"] for field in client.get(LATEST).json()["fields"]] == ["user_id", "plan", "ltv"]


@pytest.mark.parametrize("headers", UPGRADES.values(), ids=UPGRADES)
def test_request_hidden_in_a_body_is_not_carried_out(client: httpx2.Client, headers: dict[str, str]) -> None:
    hidden = request("POST /contracts", short("hidden.contract"))
    fields = {"Content_Type": "application/json", "Content_Length": str(len(hidden)), **headers}
    head = request("POST /contracts/check", None, **fields)
    with connected(client) as connection:
        connection.sendall(head + hidden + request("GET /datasets", Connection="close"))
        responses = read_to_end(connection)

    assert statuses(responses) == [422, 200]  # the hidden request is a body that is not JSON
    assert client.get("/datasets").json() == {"datasets": []}


def test_curl_that_offers_http2_can_post(client: httpx2.Client, tmp_path: Path) -> None:
    body = tmp_path / "contract.json"
    body.write_text(json.dumps(short()))
    command = ["curl", "--http2", "--silent", "--noproxy", "*", "--output", str(tmp_path / "answer"), "--write-out"]
    options = ["%{http_code}", "--json", f"@{body}", f"{client.base_url}/contracts"]
    answer = subprocess.run([*command, *options], capture_output=True, text=True, check=True, timeout=30)

    assert answer.stdout == "201"
    assert [field["name"] for field in client.get(LATEST).json()["fields"]] == ["user_id", "plan", "ltv"]


JAVA_CLIENT = """
import java.net.URI;
import java.net.http.*;
import java.nio.file.Path;

class Post {
    public static void main(String[] arguments) throws Exception {
        var client = HttpClient.newHttpClient();  // offers h2c with every request, which is the default
        for (int number = 1; number < arguments.length; number++) {
            var request = HttpRequest.newBuilder(URI.create(arguments[0]))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofFile(Path.of(arguments[number]))).build();
            var response = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(response.statusCode() + " " + response.version());
        }
    }
}
"""


@pytest.mark.skipif(shutil.which("javac") is None, reason="compiling the client needs a JDK")
def test_java_client_that_offers_http2_can_post(client: httpx2.Client, tmp_path: Path) -> None:
    source, first, second = tmp_path / "Post.java", tmp_path / "first.json", tmp_path / "second.json"
    source.write_text(JAVA_CLIENT)
    first.write_text(json.dumps(short()))
    second.write_text(json.dumps(short(version="1.0.1", description="x" * 100_000)))
    java = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", str(source)]
    arguments = [f"{client.base_url}/contracts", str(first), str(second)]

    ran = subprocess.run([*java, *arguments], capture_output=True, text=True, timeout=60)

    assert ran.stdout.splitlines() == ["201 HTTP_1_1", "201 HTTP_1_1"], ran.stderr
    versions = client.get(f"/contracts/{USERS}/versions").json()
    assert [version["version"] for version in versions] == ["1.0.0", "1.0.1"]
