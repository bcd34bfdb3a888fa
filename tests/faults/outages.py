"""Ways in which a PostgreSQL server goes away and comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx2
import psycopg

from tests.faults.load import Load
from tests.server.running import client_of

RECOVERY_S = 5.0
"""Seconds after its return in which the database must take writes again."""

START_S = 60.0
"""Seconds in which a server must start; its package waits for ten, which a busy machine exceeds."""

_TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = %s"

Outage = Callable[[Any], AbstractContextManager[None]]


def start(server: Any) -> None:
    """Start the server and wait until it is ready."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            server.start()
        except (subprocess.SubprocessError, AssertionError):  # it is still starting
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


@contextmanager
def stopped(server: Any) -> Iterator[None]:
    """Shut the server down and start it again."""
    server.stop()
    yield
    start(server)


@contextmanager
def killed(server: Any) -> Iterator[None]:
    """Kill all processes of the server, and start it again with what is on disk."""
    processes = _processes(server)
    for process in processes:
        process.kill()
    for process in processes:
        process.wait(10)
    yield
    start(server)


@contextmanager
def paused(server: Any) -> Iterator[None]:
    """Stop all processes of the server without closing a connection, and let them go on."""
    processes = _processes(server)
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process.pid, signal.SIGCONT)


OUTAGES: dict[str, Outage] = {"stopped": stopped, "killed": killed, "paused": paused}


def terminate_connections(server: Any, database: str) -> int:
    """End all connections to a database, as a failover or a proxy does; return how many there were."""
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        return len(connection.execute(_TERMINATE, (name,)).fetchall())


def check_terminated_connections(server: Any, database: str, load: Load, times: int = 3) -> None:
    """See that clients can write soon after their server lost its connections."""
    for _ in range(times):
        assert terminate_connections(server, database) > 0
        load.wait_for(201, within=RECOVERY_S)


def check_outage(outage: Outage, server: Any, load: Load) -> None:
    """See that clients get 503 during an outage and can write soon after it; the probes say the same."""
    with client_of(load.address) as client:
        with outage(server):
            load.wait_for(503)
            assert client.get("/healthz").status_code == 200
            wait_for_readiness(client, 503)
        load.wait_for(201, within=RECOVERY_S)
        wait_for_readiness(client, 200)


def wait_for_readiness(client: httpx2.Client, status: int) -> None:
    """Wait for an answer of /readyz, which a process may remember for a second."""
    deadline = time.monotonic() + RECOVERY_S
    while client.get("/readyz").status_code != status:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _processes(server: Any) -> list[Any]:
    postmaster = server.get_postmaster_info().process
    return [postmaster, *postmaster.children(recursive=True)]
