"""Long experiments: many outages of PostgreSQL under load, a process that hangs with the write lock, a full disk."""

from __future__ import annotations

import random
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.faults.load import Load
from tests.faults.outages import OUTAGES, check_outage, check_terminated_connections
from tests.postgresql import create_database, postgresql_server
from tests.server.contracts import short
from tests.server.running import ServingProcess, client_of
from treaty.errors import Unavailable
from treaty.registry.store.database import Database
from treaty.registry.store.transaction import Transaction

ROUNDS = 12


@pytest.fixture(scope="module")
def own_postgresql() -> Iterator[Any]:
    with postgresql_server() as server:
        yield server
        server.start()


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_acknowledged_is_lost_in_many_outages(own_postgresql: Any, tmp_path: Path, workers: int) -> None:
    order = random.Random(workers)  # noqa: S311
    database = create_database(own_postgresql.get_uri())
    arguments = ("--workers", str(workers), "--timeout", "2")
    with ServingProcess(database, tmp_path / "log", *arguments) as process, Load(process.address) as load:
        load.wait_for(201)
        for _ in range(ROUNDS):
            check_terminated_connections(own_postgresql, database, load, times=order.randrange(1, 6))
            check_outage(OUTAGES[order.choice(sorted(OUTAGES))], own_postgresql, load)
            load.wait_for(201, count=order.randrange(1, 10))

    load.check(database)


def test_a_process_that_hangs_with_the_write_lock_loses_it(own_postgresql: Any) -> None:
    url = create_database(own_postgresql.get_uri())
    with closing(Database.open(url)) as hanging, closing(Database.open(url)) as other:
        has_lock, go_on = threading.Event(), threading.Event()

        def hang(transaction: Transaction) -> None:
            transaction.write(text("UPDATE alembic_version SET version_num = 'hanging'"))
            has_lock.set()
            go_on.wait(60)

        with ThreadPoolExecutor(1) as pool:
            lost = pool.submit(hanging.write, hang)
            assert has_lock.wait(10)
            other.probe_write().result(timeout=20)
            go_on.set()

            assert isinstance(lost.exception(), Unavailable)
        with other.read() as connection:
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() != "hanging"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of two megabytes; that takes root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill_disk(folder: Path) -> Path:
    """Write a file that takes all the space that is left."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as handle, suppress(OSError):
        while True:
            handle.write(b"\0" * 4096)
    return filler


def test_a_full_disk_is_503_until_there_is_space(small_disk: Path, tmp_path: Path) -> None:
    file = small_disk / "registry.db"
    with ServingProcess(str(file), tmp_path / "log") as process, client_of(process.address) as client:
        assert client.post("/contracts", json=short()).status_code == 201
        filler = fill_disk(small_disk)

        write = client.post("/contracts", json=short(version="1.1.0"))
        ready = client.get("/readyz")
        read = client.get("/datasets")
        filler.unlink()

        assert (write.status_code, ready.status_code, read.status_code) == (503, 503, 200)
        assert client.post("/contracts", json=short(version="1.1.0")).status_code == 201
        assert client.get("/readyz").status_code == 200
        assert client.get("/api/v1/audit/verify").json()["whole"] is True
