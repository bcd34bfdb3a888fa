"""The registries that every behaviour is run on: a SQLite file, a PostgreSQL server, and a client of a real server."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, cast

import uvicorn
from fastapi import FastAPI
from sqlalchemy import Connection, create_engine, text

from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.client import RegistryClient
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.registry.store.database import Database
from treaty.registry.store.tables import METADATA
from treaty.server.app import create_app, set_registry
from treaty.server.authenticator import Authenticator
from treaty.server.settings import AccessSettings

AnyRegistry: TypeAlias = Registry | RegistryClient
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET_KEY = "dGhlIGtleSBvZiB0aGUgdGVzdHMsIDMyIGJ5dGVzISE="  # noqa: S105
RULES = RegistryRules()
"""What holds where a test says nothing else."""


class Clock:
    """Tells the time that the test says it is."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: int) -> None:
        self.now += timedelta(days=days)


class Names:
    """Signs in whoever says who they are: `name role team`, in place of an identity provider."""

    def verify(self, bearer: str) -> Actor:
        name, role, team = bytes.fromhex(bearer).decode().split("|")
        return actor_with_role(name, role, team or None)


def actor_with_role(name: str, role: str, team: str | None = None) -> Actor:
    """Return an actor with one role and every scope."""
    return Actor(name, (Grant(Role(role), team),), frozenset(Scope), "test")


def bearer_of(name: str, role: str, team: str | None = None) -> str:
    return f"{name}|{role}|{team or ''}".encode().hex()


@dataclass
class Backend:
    """One registry under test: how it is asked, its clock, and a look at its database from behind."""

    kind: str
    local: Registry
    clock: Clock
    url: str | None = None
    _clients: list[RegistryClient] = field(default_factory=list)

    def acting_as(self, name: str, role: str, team: str | None = None) -> AnyRegistry:
        """Return the registry in the name of somebody; over HTTP they sign in."""
        if self.url is None:
            return self.local.acting_as(actor_with_role(name, role, team))
        return self.client(bearer_of(name, role, team))

    def client(self, token: str | None) -> RegistryClient:
        client = RegistryClient(cast(str, self.url), token, pause=lambda _: None)
        self._clients.append(client)
        return client

    @property
    def database(self) -> Database:
        return self.local.context.database

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """Look into the tables from behind."""
        with self.database.read() as connection:
            return list(connection.execute(text(statement), values))

    def tamper(self, table: str, statement: str) -> None:
        """Change a table as somebody would who owns the database: without its guards."""

        def unit(connection: Connection) -> None:
            drop_guards(connection, table)
            connection.execute(text(statement))
            if connection.dialect.name == "postgresql":  # other tests use the same database
                connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))

        self.database.change(unit)

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.local.close()


def drop_guards(connection: Connection, table: str) -> None:
    """Switch the triggers of a table off, as the owner of the database could."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        return
    query = text("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = :table")
    for name in connection.execute(query, {"table": table}).scalars().all():
        connection.execute(text(f"DROP TRIGGER {name}"))


def sqlite_file(template: Path, folder: Path) -> str:
    """Return a fresh file with every table in it."""
    return str(shutil.copy(template, folder / "registry.db"))


def make_template(folder: Path) -> Path:
    """Make the tables once; each test begins with a copy."""
    file = folder / "template.db"
    Registry.open(str(file)).close()
    for more in folder.glob("template.db-*"):
        more.unlink()
    return file


def empty_tables(url: str) -> None:
    """Empty a PostgreSQL database, without the triggers that refuse it."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            names = ", ".join(table.name for table in METADATA.tables.values())
            connection.execute(text("SET LOCAL session_replication_role = 'replica'"))
            connection.execute(text(f"TRUNCATE {names} CASCADE"))
    finally:
        engine.dispose()


class Served:
    """One server for all tests of a process; each test puts its own registry behind it."""

    def __init__(self, app: FastAPI, url: str) -> None:
        self._app = app
        self.url = url

    def put(self, registry: Registry) -> None:
        authenticator = Authenticator(registry.context.database, AccessSettings(), cast(OidcVerifier, Names()))
        set_registry(self._app, registry, authenticator)


@contextmanager
def serving(registry: Registry, app: FastAPI | None = None) -> Iterator[Served]:
    """Serve on a port of this machine that is free, for as long as the context lasts; by default people sign in."""
    app = app or create_app(registry, AccessSettings(), cast(OidcVerifier, Names()))
    started = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"), started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert started.wait(20), "the server did not start"
    try:
        yield Served(app, f"http://127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()
