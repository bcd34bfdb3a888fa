"""What every request passes: limits, ids, where it may come from; and the one shape of errors."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from fastapi.routing import iter_route_contexts
from structlog.testing import capture_logs

from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from tests.server.running import client_of, running
from tests.server.test_http import connected, request
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.settings import Limits

TOO_LARGE = "the body is larger than 1,000 bytes"


def api_error(answer: httpx2.Response) -> dict[str, Any]:
    """Return an error of the API beyond the first, and see that it has the one shape."""
    body: dict[str, Any] = answer.json()
    assert body.keys() == {"error", "detail", "findings", "request_id"}
    assert body["request_id"] == answer.headers["x-request-id"]
    assert isinstance(body["detail"], str)
    return body


@pytest.mark.parametrize("path", ["/contracts", "/contracts/check", "/api/v1/can-i-publish", "/api/v1/tokens"])
def test_a_body_with_a_too_large_length_is_not_read(serve: Serve, path: str) -> None:
    client = serve(limits=Limits(body=1_000))

    answer = client.post(path, content=b" " * 1_001, headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["detail"]) == (413, TOO_LARGE)


@pytest.mark.parametrize("path", ["/contracts", "/contracts/check", "/api/v1/can-i-publish", "/api/v1/tokens"])
def test_a_chunked_body_is_cut_off_at_the_limit(serve: Serve, path: str) -> None:
    client = serve(limits=Limits(body=1_000))

    def drops() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    answer = client.post(path, content=drops(), headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["detail"]) == (413, TOO_LARGE)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/api/v1/subscriptions"),
        ("POST", "/api/v1/waivers"),
        ("POST", f"/contracts/{USERS}/versions/1.0.0/deprecate"),
    ],
)
def test_many_unknown_keys_give_one_finding(shared: httpx2.Client, method: str, path: str) -> None:
    answer = shared.request(method, path, json={f"key{number}": 1 for number in range(10_000)})

    assert answer.status_code == 422
    assert "10,000 keys; use: " in answer.text
    assert len(answer.content) < 2_000


def test_a_few_other_keys_are_named(shared: httpx2.Client) -> None:
    answer = shared.put("/api/v1/subscriptions", json={"colour": 1, "size": 2})

    assert {"body.colour", "body.size"} <= {one["path"] for one in api_error(answer)["findings"]}


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ([{"name": "user_id", "type": "string"}] * 3_000, "and at least 2,499 more"),
        ([{"name": f"f{place}", "type": "colour"} for place in range(3_000)], "and at least 500 more"),
    ],
    ids=["names that are taken", "types that nobody knows"],
)
def test_at_most_five_hundred_findings_are_returned(
    shared: httpx2.Client, fields: list[dict[str, Any]], left: str
) -> None:
    document = short(fields=fields)

    plain = shared.post("/contracts/check", json=document).json()["detail"]
    listed = api_error(shared.post("/api/v1/impact", json=document))["findings"]

    for found in ([one["msg"] for one in plain], [one["message"] for one in listed]):
        assert (len(found), found[-1]) == (501, left)


def test_only_documents_may_be_large(shared: httpx2.Client) -> None:
    takes_documents = [
        path
        for path, operations in shared.get("/openapi.json").json()["paths"].items()
        if "application/yaml" in operations.get("post", {}).get("requestBody", {}).get("content", {})
    ]
    large = json.dumps({"text": "x" * 1_100_000}).encode()

    for path in takes_documents:
        assert shared.post(path, content=large, headers={"Content-Type": "application/json"}).status_code == 422
    refused = shared.post("/api/v1/tokens", content=large, headers={"Content-Type": "application/json"})
    assert (refused.status_code, api_error(refused)["detail"]) == (413, "the body is larger than 1,000,000 bytes")
    assert len(takes_documents) == 6


@pytest.mark.parametrize("path", ["/contracts", "/contracts/check", "/api/v1/tokens"])
def test_a_length_of_many_digits_is_malformed(shared: httpx2.Client, path: str) -> None:
    ask = request(f"POST {path}", Content_Type="application/json", Content_Length="0" * 5_000 + "2")
    with connected(shared) as connection:
        connection.sendall(ask + b"{}")
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 400 ")


def test_a_partial_document_of_a_disconnected_client_is_not_registered(open_registry: Callable[..., Registry]) -> None:
    registry = open_registry()
    app = create_app(registry)
    app.state.authenticator.requires_sign_in()
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": yaml.safe_dump(short()).encode(), "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(dict(message))

    headers = [(b"host", b"localhost"), (b"content-type", b"application/yaml")]
    scope = {"type": "http", "method": "POST", "path": "/contracts", "query_string": b""}
    more = {"headers": [*headers, (b"transfer-encoding", b"chunked")], "http_version": "1.1", "scheme": "http"}

    asyncio.run(app({**scope, **more}, receive, send))

    assert registry.datasets().items == []
    assert sent == []


def test_a_body_of_the_maximum_size_is_read(serve: Serve) -> None:
    content = json.dumps(short()).encode()
    client = serve(limits=Limits(body=len(content)))

    assert client.post("/contracts", content=content, headers={"Content-Type": "application/json"}).status_code == 201


@pytest.mark.parametrize("given", ["0123456789abcdef", "trace_id-of-a-caller"])
def test_the_id_of_a_request_is_echoed(shared: httpx2.Client, given: str) -> None:
    assert shared.get("/datasets", headers={"X-Request-Id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", [None, "short", "with blanks in it", "x" * 65, "ä" * 10, 'quoted"id"here'])
def test_a_request_without_a_usable_id_gets_one(shared: httpx2.Client, given: str | None) -> None:
    headers = [] if given is None else [(b"X-Request-Id", given.encode())]

    answer = shared.get("/datasets", headers=headers)

    assert re.fullmatch("[0-9a-f]{16,32}", answer.headers["x-request-id"])


def test_every_response_has_nosniff(shared: httpx2.Client) -> None:
    for path in ("/", "/nowhere", "/docs", "/api/v1/contracts"):
        assert shared.get(path).headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
@pytest.mark.parametrize("path", ["/contracts", "/api/v1/tokens", f"/contracts/{USERS}/versions/1.0.0/archive"])
def test_requests_that_a_foreign_page_can_send_are_refused(client: httpx2.Client, path: str, media: str) -> None:
    client.post("/contracts", json=short())

    answer = client.post(path, content=json.dumps(short()), headers={"Content-Type": media})

    assert answer.status_code == 415
    assert "send application/json or application/yaml" in answer.json()["detail"]


@pytest.mark.parametrize(
    "host", ["evil.example.org", "evil.example.org:8090", "10.0.0.7", "localhost.evil.org", "[::2]"]
)
@pytest.mark.parametrize("ask", ["GET /datasets", "POST /contracts", "GET /api/v1/contracts", "GET /docs"])
def test_an_open_server_refuses_foreign_host_names(shared: httpx2.Client, host: str, ask: str) -> None:
    method, _, path = ask.partition(" ")

    answer = shared.request(method, path, headers={"Host": host}, json=short() if method == "POST" else None)

    assert answer.status_code == 403
    assert "open to its own machine only" in answer.json()["detail"]
    assert USERS not in shared.get("/datasets").json()["datasets"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8090", "127.0.0.1:1", "127.9.9.9", "[::1]:8090", "LOCALHOST"])
def test_an_open_server_answers_to_the_names_of_its_machine(shared: httpx2.Client, host: str) -> None:
    assert shared.get("/datasets", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"), [("https://evil.example.org", 403), ("null", 403), ("http://localhost:3000", 200)]
)
def test_an_open_server_refuses_changes_from_foreign_origins(client: httpx2.Client, origin: str, status: int) -> None:
    client.post("/contracts", json=short())

    answer = client.post(f"/contracts/{USERS}/versions/1.0.0/archive", headers={"Origin": origin})

    assert answer.status_code == status


@pytest.mark.parametrize("ask", ["GET /api/v1/nowhere", "GET /api/v1/", "POST /api/v1/nowhere/at/all"])
def test_an_unknown_path_of_the_api_has_the_one_shape(shared: httpx2.Client, ask: str) -> None:
    answer = shared.request(*ask.split(" "))

    assert (answer.status_code, api_error(answer)["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("ask", "allowed"),
    [
        ("DELETE /api/v1/contracts", "GET, POST"),
        ("PATCH /api/v1/subscriptions", "DELETE, GET, PUT"),
        ("PUT /api/v1/tokens", "GET, POST"),
        ("OPTIONS /api/v1/channels", "GET, POST"),
        ("GET /api/v1/impact", "POST"),
    ],
)
def test_an_unsupported_method_lists_the_supported_ones(shared: httpx2.Client, ask: str, allowed: str) -> None:
    answer = shared.request(*ask.split(" "))

    assert (answer.status_code, api_error(answer)["error"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(("ask", "allowed"), [("DELETE /datasets", "GET"), ("GET /contracts", "POST")])
def test_on_the_paths_of_the_first_api_errors_are_its_own(shared: httpx2.Client, ask: str, allowed: str) -> None:
    answer = shared.request(*ask.split(" "))

    assert (answer.status_code, answer.json()) == (405, {"detail": "Method Not Allowed"})
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        (b'{"name": "ci"}', "body.role", "Field required"),
        (b'{"name": "ci", "role": "king"}', "body.role", "Input should be 'viewer'"),
        (b'{"name": "ci", "role": "viewer", "days": "90"}', "body.days", "valid integer"),
        (b'{"name": "ci", "role": "viewer", "colour": "blue"}', "body.colour", "not permitted"),
        (b"{", "body.1", "JSON decode error"),
    ],
)
def test_a_malformed_body_names_each_problem_and_its_place(
    shared: httpx2.Client, body: bytes, path: str, words: str
) -> None:
    answer = shared.post("/api/v1/tokens", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 422
    (finding,) = api_error(answer)["findings"]
    assert finding["path"] == path
    assert words in finding["message"]


def test_bytes_that_are_no_text_are_malformed(shared: httpx2.Client) -> None:
    answer = shared.post("/api/v1/tokens", content=b"\xff\xfe", headers={"Content-Type": "application/json"})

    assert (answer.status_code, api_error(answer)["error"]) == (422, "invalid")


@pytest.mark.parametrize("path", ["/datasets", "/api/v1/contracts"])
def test_an_internal_error_is_logged_with_the_id_and_without_its_message(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    secret = "-".join(["whsec", "very", "private"])

    def fail(*_: object, **__: object) -> None:
        raise KeyError(secret)

    monkeypatch.setattr("treaty.registry.service.Registry.datasets", fail)
    monkeypatch.setattr("treaty.registry.service.Registry.search", fail)

    with capture_logs() as logs:
        answer = client.get(path)

    assert answer.status_code == 500
    assert "the server's log has the details under this request's id" in answer.json()["detail"]
    (mistake,) = (line for line in logs if line["event"] == "internal_error")
    assert mistake["request_id"] == answer.headers["x-request-id"]
    assert (mistake["error"], "datasets" in mistake["trace"] or "search" in mistake["trace"]) == ("KeyError", True)
    assert secret not in f"{logs}{answer.text}"
    assert [line["status"] for line in logs if line["event"] == "request"] == [500]


def test_a_write_that_times_out_is_cancelled(serve: Serve, tmp_path: Path) -> None:
    client = serve(limits=Limits(seconds=0.3))
    assert client.post("/contracts", json=short()).status_code == 201
    lock = sqlite3.connect(tmp_path / "registry.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        late = client.post("/contracts", json=short("late"))
        queued = client.post("/contracts", json=short("queued"))
    finally:
        lock.execute("ROLLBACK")
        lock.close()

    for answer in (late, queued):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert "no answer within 0.3 seconds" in answer.json()["detail"]
    assert client.post("/contracts", json=short("after")).status_code == 201
    assert "queued" not in client.get("/datasets").json()["datasets"]


def test_a_slow_read_is_answered_in_time(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve(limits=Limits(seconds=0.3))
    let_go = threading.Event()
    monkeypatch.setattr("treaty.registry.service.Registry.search", lambda *_, **__: let_go.wait(20))

    answer = client.get("/api/v1/contracts")
    let_go.set()

    assert (answer.status_code, api_error(answer)["error"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "2"


@pytest.mark.parametrize("now", ["0.5", "1767225600", "2027-03-31", "2027-03-31T00:00:00"])
def test_a_time_is_written_in_iso_8601_with_its_zone(shared: httpx2.Client, now: str) -> None:
    assert shared.get("/api/v1/tick", params={"now": now}).status_code == 422
    assert shared.get("/api/v1/tick", params={"now": "2027-03-31T00:00:00Z"}).status_code == 200


HEAD_PATH_VALUES = {
    "dataset_id": USERS,
    "contract": USERS,
    "key": USERS,
    "line": f"{USERS}@1",
    "version": "1.0.0",
    "pair": "1.0.0..1.0.0",
    "form": "odcs",
    "identity": "1",
    "feed": "nightly_users",
    "fingerprint": "5f2b",
    "certificate": "cert-1",
    "number": "1",
    "name": "swagger-ui.css",
}


def test_head_is_answered_like_get_without_a_body(open_registry: Callable[..., Registry]) -> None:
    app = create_app(open_registry())
    app.state.registry.register(short())
    paths = [route.path for route in iter_route_contexts(app.routes) if "GET" in (route.methods or ())]

    with running(app) as address, client_of(address) as client:
        answered = 0
        for path in paths:
            url = re.sub(r"{(\w+)(:\w+)?}", lambda name: HEAD_PATH_VALUES[name[1]], path or "/")
            got, head = client.get(url), client.head(url)
            assert (head.status_code, head.content) == (got.status_code, b""), url
            assert head.headers["content-type"] == got.headers["content-type"], url
            answered += got.status_code == 200

    assert len(paths) > 60
    assert answered > 40
