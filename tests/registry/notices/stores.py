"""A real database for the outbox, a clock that is moved by hand, and notices to fill them with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Row, create_engine, event, insert, select

from treaty.registry.notices.channels import Channel, ChannelKind
from treaty.registry.notices.messages import Notice
from treaty.registry.store.outbox import waiting
from treaty.registry.store.tables import METADATA, channels, deliveries, notices

T = TypeVar("T")
TABLES = [notices, channels, deliveries]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "whsec-very-private"  # noqa: S105


class Clock:
    """Tells the time that the test says it is."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


class Store:
    """The database port over an engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._lock = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    def change(self, unit: Callable[[Connection], T]) -> T:
        with self._lock, self.engine.begin() as connection:
            return unit(connection)

    def add_channel(self, channel: Channel) -> None:
        row = {"id": channel.id, "party": channel.party, "kind": channel.kind.value, "target": channel.target}
        more = {"secret": channel.secret, "added_at": NOON, "added_by": "ana"}
        self.change(lambda connection: connection.execute(insert(channels).values(**row, **more)))

    def add_notice(self, notice: Notice, *channel_ids: int) -> None:
        def unit(connection: Connection) -> None:
            row = {
                name: getattr(notice, name) for name in ("seq", "id", "at", "kind", "contract", "version", "headline")
            }
            lists = {"details": dict(notice.details), "parties": list(notice.parties)}
            connection.execute(insert(notices).values(**row, **lists))
            for channel in dict.fromkeys(channel_ids):
                row = waiting(notice.seq, channel, notice.contract, notice.at)
                connection.execute(insert(deliveries).values(**row))

        self.change(unit)

    def delivery(self, notice: int, channel: int) -> Row[Any]:
        wanted = select(deliveries).where(deliveries.c.notice == notice, deliveries.c.channel == channel)
        with self.read() as connection:
            return connection.execute(wanted).one()


def sqlite_store(file: Path) -> Store:
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def _no_hidden_transactions(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA synchronous = OFF")  # no test pulls the plug

    @event.listens_for(engine, "begin")
    def _one_writer(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    METADATA.create_all(engine, TABLES)
    return Store(engine)


def a_notice(seq: int = 1, contract: str = "sales.orders", **changes: Any) -> Notice:
    values: dict[str, Any] = {
        "seq": seq,
        "id": f"notice-{seq}",
        "at": NOON,
        "kind": "version.registered",
        "contract": contract,
        "version": "1.2.0",
        "headline": f"{contract} 1.2.0 is registered",
        "details": {"bump": "minor"},
        "parties": ("growth",),
    }
    return Notice(**{**values, **changes})


def a_channel(id: int = 1, target: str = "https://hooks.example.org/treaty", **changes: Any) -> Channel:  # noqa: A002
    values: dict[str, Any] = {"party": "growth", "kind": ChannelKind.WEBHOOK, "secret": None}
    return Channel(id=id, target=target, **{**values, **changes})
