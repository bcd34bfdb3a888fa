"""The database away for a while: a clear 503, no false acknowledgement, and work goes on when it is back."""

from __future__ import annotations

import resource
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from sqlalchemy import text

from tests.faults.load import Load
from tests.faults.outages import (
    OUTAGES,
    check_outage,
    check_terminated_connections,
    terminate_connections,
    wait_for_readiness,
)
from tests.postgresql import create_database, postgresql_server
from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from tests.server.running import ServingProcess, client_of
from treaty.errors import Unavailable
from treaty.registry.service import Registry
from treaty.registry.store import database as store
from treaty.registry.store.database import Database
from treaty.registry.store.transaction import Transaction
from treaty.server.settings import AccessSettings

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


@pytest.fixture(scope="module")
def own_postgresql() -> Iterator[Any]:
    """Start a PostgreSQL server that a test may stop and starts again."""
    with postgresql_server() as server:
        yield server
        server.start()


def test_requests_fail_while_postgresql_is_down_and_work_once_it_is_back(serve: Serve, own_postgresql: Any) -> None:
    client = serve(database=create_database(own_postgresql.get_uri()))
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
    wait_for_readiness(client, 200)
    assert [one["version"] for one in client.get(f"/contracts/{USERS}/versions").json()] == ["1.0.0"]
    assert client.post("/contracts", json=short(version="1.0.1")).status_code == 201


def test_metrics_say_that_the_database_is_away(serve: Serve, own_postgresql: Any) -> None:
    client = serve(database=create_database(own_postgresql.get_uri()), access=AccessSettings(required=True))
    before = client.get("/metrics").text
    own_postgresql.stop()
    wait_for_readiness(client, 503)  # a write of the last second counts as an answer
    during = client.get("/metrics")
    own_postgresql.start()

    assert 'treaty_database_up{operation="read"} 1.0' in before
    assert "treaty_contracts{" in before
    assert during.status_code == 200
    assert 'treaty_database_up{operation="read"} 0.0' in during.text
    assert 'treaty_database_up{operation="write"} 0.0' in during.text
    assert 'treaty_http_requests_total{method="GET",route="/metrics",status="200"} 1.0' in during.text
    assert "treaty_contracts{" not in during.text
    wait_for_readiness(client, 200)


@pytest.mark.parametrize(("workers", "outages"), [(1, ["stopped", "killed", "paused"]), (2, ["stopped"])])
def test_clients_under_load_get_503_and_can_write_again_after_an_outage(
    own_postgresql: Any, tmp_path: Path, workers: int, outages: list[str]
) -> None:
    database = create_database(own_postgresql.get_uri())
    arguments = ("--workers", str(workers), "--timeout", "2")
    with ServingProcess(database, tmp_path / "log", *arguments) as process, Load(process.address) as load:
        load.wait_for(201)
        check_terminated_connections(own_postgresql, database, load)
        for name in outages:
            check_outage(OUTAGES[name], own_postgresql, load)

    load.check(database)


def test_units_of_a_lost_connection_fail_and_the_next_one_connects_again(postgresql_database: str) -> None:
    def lose_connection(transaction: Transaction) -> None:
        transaction.write(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    def read(transaction: Transaction) -> int:
        return int(transaction.read(text("SELECT 1")).scalar_one())

    with closing(Database.open(postgresql_database)) as database:
        busy = threading.Event()
        database.submit(lambda _: busy.wait(10))
        batch = [database.submit(unit) for unit in (read, lose_connection, read)]
        busy.set()

        assert [type(future.exception()) for future in batch] == [Unavailable] * 3
        assert database.write(read) == 1


def test_a_server_that_was_read_only_for_a_while_is_writable_again(serve: Serve, own_postgresql: Any) -> None:
    database = create_database(own_postgresql.get_uri())
    client = serve(database=database)

    def set_read_only(value: str) -> None:
        with psycopg.connect(own_postgresql.get_uri(), autocommit=True) as connection:
            name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")

    set_read_only("on")
    terminate_connections(own_postgresql, database)
    write = client.post("/contracts", json=short())
    ready = client.get("/readyz")
    read = client.get("/datasets")
    set_read_only("off")

    assert (write.status_code, write.headers["retry-after"]) == (503, "2")
    assert (ready.status_code, read.status_code) == (503, 200)
    wait_for_readiness(client, 200)  # connections made in the meantime are still read-only, until one of them fails
    assert client.post("/contracts", json=short()).status_code == 201


def test_readiness_needs_disk_space(tmp_path: Path) -> None:
    file = tmp_path / "registry.db"
    with ServingProcess(str(file), tmp_path / "log") as process, client_of(process.address) as client:
        for number in range(5):
            assert client.post("/contracts", json=short(version=f"1.{number}.0")).status_code == 201
        limits = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        log_size = Path(f"{file}-wal").stat().st_size  # the limit stops the next page, as a full disk does
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (log_size, limits[1]))

        write = client.post("/contracts", json=short(version="1.5.0"))
        ready = client.get("/readyz")
        read = client.get(f"/contracts/{USERS}/latest")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limits)

        assert (write.status_code, ready.status_code, ready.headers["retry-after"]) == (503, 503, "2")
        assert read.json()["version"] == "1.4.0"
        wait_for_readiness(client, 200)
        assert client.post("/contracts", json=short(version="1.5.0")).status_code == 201


def test_readiness_is_known_without_asking_the_database_again(
    open_registry: Callable[..., Registry], database: str
) -> None:
    opened = open_registry(database).context.database
    first = opened.probe_write()
    first.result()

    assert opened.probe_write().done()
    assert opened.probe_write() is opened.probe_write()
    with opened.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM audit")).scalar_one() == 0


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
    ready = client.get("/readyz")
    read = client.get(f"/contracts/{USERS}/latest")
    lock.execute("ROLLBACK")
    lock.close()

    assert (write.status_code, write.headers["retry-after"]) == (503, "2")
    assert write.json()["detail"].startswith(UNAVAILABLE)
    assert (ready.status_code, read.status_code) == (503, 200)
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
