"""The database away for a while: a clear 503, no false acknowledgement, and work goes on when it is back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.postgresql import postgresql_server
from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from treaty.registry.store import database as store

ASKED = [
    ("GET", "/datasets"),
    ("GET", f"/contracts/{USERS}/latest"),
    ("GET", f"/contracts/{USERS}/versions"),
    ("GET", "/api/v1/contracts"),
    ("GET", "/api/v1/audit/verify"),
    ("POST", "/contracts"),
    ("POST", "/contracts/check"),
    ("POST", "/api/v1/can-i-publish"),
    ("POST", f"/contracts/{USERS}/versions/1.0.0/archive"),
    ("POST", "/api/v1/tick"),
]
UNAVAILABLE = "the registry is temporarily unavailable"


def ask(client: httpx2.Client, method: str, path: str) -> httpx2.Response:
    takes_document = path.endswith(("/contracts", "/check", "/can-i-publish"))
    return client.request(method, path, json=short(version="1.0.1") if method == "POST" and takes_document else None)


@pytest.fixture
def own_postgresql() -> Iterator[Any]:
    """Start a PostgreSQL server that a test may stop and start."""
    with postgresql_server() as server:
        yield server
        server.start()


def test_requests_fail_while_postgresql_is_down_and_work_once_it_is_back(serve: Serve, own_postgresql: Any) -> None:
    client = serve(database=own_postgresql.get_uri())
    assert client.post("/contracts", json=short()).status_code == 201

    own_postgresql.stop()
    answers = {f"{method} {path}": ask(client, method, path) for method, path in ASKED}
    probes = {path: client.get(path).status_code for path in ("/healthz", "/readyz")}
    own_postgresql.start()

    for asked, answer in answers.items():
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2"), asked
        assert answer.json()["detail"].startswith(UNAVAILABLE)
        assert "postgres" not in answer.text  # where the database stands is for the log
    assert probes == {"/healthz": 200, "/readyz": 503}
    assert client.get("/readyz").status_code == 200
    assert [one["version"] for one in client.get(f"/contracts/{USERS}/versions").json()] == ["1.0.0"]
    assert client.post("/contracts", json=short(version="1.0.1")).status_code == 201


def test_reads_work_and_writes_fail_while_the_file_is_locked(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = tuple("PRAGMA busy_timeout=50" if "busy_timeout" in one else one for one in store._SQLITE)
    monkeypatch.setattr(store, "_SQLITE", hasty)
    client = serve()
    assert client.post("/contracts", json=short()).status_code == 201

    lock = sqlite3.connect(tmp_path / "registry.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    write = client.post("/contracts", json=short(version="1.0.1"))
    read = client.get(f"/contracts/{USERS}/latest")
    lock.execute("ROLLBACK")
    lock.close()

    assert (write.status_code, write.headers["retry-after"]) == (503, "2")
    assert write.json()["detail"].startswith(UNAVAILABLE)
    assert read.status_code == 200
    assert client.post("/contracts", json=short(version="1.0.1")).status_code == 201


def test_a_removed_file_is_unavailable_not_an_internal_error(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    assert client.post("/contracts", json=short()).status_code == 201
    with sqlite3.connect(tmp_path / "registry.db") as spoiler:
        spoiler.execute("DROP TABLE contracts")
    spoiler.close()

    for method, path in (("GET", "/datasets"), ("GET", "/api/v1/contracts"), ("POST", "/contracts")):
        answer = client.request(method, path, json=short("other") if method == "POST" else None)
        assert answer.status_code == 503, path
        assert "INSERT" not in answer.text
        assert "SELECT" not in answer.text
