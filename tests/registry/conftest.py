"""One fixture `registry` for every behaviour: on SQLite, on PostgreSQL, and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.postgresql import create_database
from tests.registry.backends import (
    RULES,
    SECRET_KEY,
    AnyRegistry,
    Backend,
    Clock,
    Served,
    bearer_of,
    empty_tables,
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
def postgresql_url(postgresql: str) -> str:
    """Return the URL of a database with every table, which each test empties before it starts."""
    url = create_database(postgresql).replace("postgresql://", "postgresql+psycopg://")
    Registry.open(url).close()
    return url


@pytest.fixture(scope="session")
def served(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    first = Registry.open(sqlite_file(template, tmp_path_factory.mktemp("served")))
    with serving(first) as server:
        yield server
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
        rules = replace(rules, secret_keys=rules.secret_keys or (SECRET_KEY,))
        backend = Backend(request.param, Registry.open(reference, rules=rules, clock=clock), clock)
        opened.append(backend)
        if request.param == "http":
            server: Served = request.getfixturevalue("served")
            server.put(backend.local)
            backend.url = server.url
        return backend

    yield make
    for backend in opened:
        backend.close()


@pytest.fixture
def backend(open_backend: Callable[..., Backend]) -> Backend:
    return open_backend()


@pytest.fixture
def registry(backend: Backend) -> AnyRegistry:
    """Return a registry that acts as `local`, an administrator."""
    return backend.local if backend.url is None else backend.client(bearer_of("local", "admin"))
