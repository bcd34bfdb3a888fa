"""Registries on both databases, behind a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest

from tests.server.running import client_of, running
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.server.app import create_app


class Clock:
    """Tells the time that the test says it is."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


class Serve(Protocol):
    """Starts a server on a registry, and gives a client of it."""

    def __call__(
        self, *, database: str | None = None, rules: RegistryRules | None = None, **options: Any
    ) -> httpx2.Client: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Run the test on each database."""
    if request.param == "sqlite":
        return str(tmp_path / "registry.db")
    return str(request.getfixturevalue("postgresql_database"))


@pytest.fixture
def open_registry(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Registry]]:
    """Open registries that are closed after the test."""
    with ExitStack() as stack:

        def begin(database: str | None = None, rules: RegistryRules | None = None) -> Registry:
            place = database or str(tmp_path / "registry.db")
            return stack.enter_context(Registry.open(place, rules=rules, clock=clock))

        yield begin


@pytest.fixture
def serve(open_registry: Callable[..., Registry]) -> Iterator[Serve]:
    """Start servers that end with the test."""
    with ExitStack() as stack:

        def begin(*, database: str | None = None, rules: RegistryRules | None = None, **options: Any) -> httpx2.Client:
            app = create_app(open_registry(database, rules), **options)
            client = stack.enter_context(client_of(stack.enter_context(running(app))))
            client.get("/readyz")
            client.get("/datasets")
            return client

        yield begin


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of one server for all tests that leave nothing behind in it."""
    file = tmp_path_factory.mktemp("shared") / "registry.db"
    with Registry.open(str(file)) as registry, running(create_app(registry)) as address, client_of(address) as client:
        yield client


@pytest.fixture
def client(serve: Serve) -> httpx2.Client:
    """A client of an open server on SQLite."""
    return serve()
