"""The database: a SQLite file by default, or PostgreSQL. Reads use snapshots, writes go through one writer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import ArgumentError, OperationalError

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.rules import Upgrade
from treaty.registry.store.actor_conversion import convert
from treaty.registry.store.audit_check import seal
from treaty.registry.store.lifecycle_status import ask_about
from treaty.registry.store.read_cache import ReadCache
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.writer import Writer, WriterLock, reachable

if TYPE_CHECKING:
    from alembic.config import Config

T = TypeVar("T")
Clock = Callable[[], datetime]

DEFAULT_FILE = ".treaty/registry.db"
_LOCK_TIMEOUT_S = 30
"""Seconds that a statement waits for a lock, or a caller for a connection, before it gives up."""

_RETRY_INTERVAL_S = 0.01
PROBE_INTERVAL_S = 1.0
_DONE: Future[None] = Future()
_DONE.set_result(None)

_SQLITE = (
    "PRAGMA synchronous=FULL",  # what was acknowledged survives a power cut
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={_LOCK_TIMEOUT_S * 1000}",
    "PRAGMA cache_size=-8000",  # kilobytes
    "PRAGMA wal_autocheckpoint=4000",  # pages: a page that changes often is copied to the file once, not many times
)
_POSTGRESQL_CONNECTION = {
    "connect_timeout": 3,
    "keepalives_idle": 3,  # seconds; a server that vanished from the network is noticed after six
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 6_000,  # milliseconds
}
_READ_ONLY_TRANSACTION = "25006"
_POSTGRESQL = f"-c lock_timeout={_LOCK_TIMEOUT_S}s -c statement_timeout={_LOCK_TIMEOUT_S}s -c timezone=UTC"


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def database_url(reference: str) -> URL:
    """Parse a database URL; a path is a SQLite file."""
    if reference == ":memory:":
        raise InvalidDocument("the registry needs a database file; for one in memory use treaty.ContractRegistry()")
    if "://" not in reference:
        return URL.create("sqlite+pysqlite", database=reference)
    try:
        url = make_url(reference)
    except ArgumentError:
        raise InvalidDocument("the database URL cannot be read; write sqlite:///file or postgresql://…") from None
    name = url.get_backend_name()
    if name in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if name == "sqlite" and url.database and url.database != ":memory:":
        return url.set(drivername="sqlite+pysqlite")
    raise InvalidDocument(f"{redacted_url(url)} is not a supported database; write sqlite:///file or postgresql://…")


def redacted_url(url: URL) -> str:
    """Return a URL without its password and without its query, which may contain one too."""
    return url.set(query={}).render_as_string()


class Database:
    """The database of a registry; safe for many threads and for many processes."""

    def __init__(self, url: URL, clock: Clock = utc_now) -> None:
        self.clock = clock
        self._engine = _engine(url)
        on_sqlite = url.get_backend_name() == "sqlite"
        self._writer = Writer(self._engine, clock, WriterLock(url.database if on_sqlite else None))
        self.read_cache = ReadCache(url.database if on_sqlite else None)
        self._probe_lock = threading.Lock()
        self._probe: Future[None] | None = None
        self._probed_at = 0.0

    @classmethod
    def open(cls, reference: str, clock: Clock = utc_now, upgrade: Upgrade = Upgrade.AUTO) -> Database:
        """Open a database, and bring its tables up to date; with `Upgrade.MANUAL`, refuse tables that are not."""
        url = database_url(reference)
        if url.get_backend_name() == "sqlite":
            create_file(Path(str(url.database)))
        database = cls(url, clock)
        try:
            with reachable(database.name), database._engine.connect() as connection:
                migrate(connection, clock, upgrade)
        except BaseException:
            database.close()
            raise
        return database

    @property
    def url(self) -> URL:
        """The URL, with its password."""
        return self._engine.url

    @property
    def on_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def name(self) -> str:
        """The URL, without its password."""
        return redacted_url(self._engine.url)

    @contextmanager
    def read(self, now: datetime | None = None) -> Iterator[Connection]:
        """Open a connection for reading, as things are now or at another time."""
        with reachable(self.name), self._engine.connect() as connection:
            ask_about(connection, (now or self.clock()).date())
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN")  # all queries see the same state; PostgreSQL begins by itself
            yield connection

    @contextmanager
    def snapshot(self, now: datetime | None = None) -> Iterator[Connection]:
        """Open a connection for several queries that all see the same state of the database."""
        with reachable(self.name), self._engine.connect() as connection:
            ask_about(connection, (now or self.clock()).date())
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN")
            else:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a transaction that holds the lock of migrations and sees one state of the database."""
        with reachable(self.name), self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                connection.exec_driver_sql(_LOCK_MIGRATIONS[connection.dialect.name])
                yield connection

    def write(self, unit: Callable[[Transaction], T]) -> T:
        """Run a unit of work as one transaction, and return once it is durable."""
        return self._writer.submit(unit).result()

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Queue a unit of work; the future is done once it is durable."""
        return self._writer.submit(unit)

    def change(self, unit: Callable[[Connection], T]) -> T:
        """Run a function of a connection as one write transaction."""
        return self.write(lambda transaction: transaction.change(unit))

    def on_notices(self, wake: Callable[[], None]) -> None:
        """Set the function to call after notices were added to the outbox."""
        self._writer.on_notices = wake

    def on_pending_writes(self, listener: Callable[[int], None]) -> None:
        """Set the function that is called with the number of unfinished writes of this process when it changes."""
        self._writer.on_pending(listener)

    def on_changes(self, wake: Callable[[], None]) -> None:
        """Set the function to call after a change by this process."""
        self._writer.on_changes = wake

    def probe_write(self) -> Future[None]:
        """Return a future that is done once a write is durable, or that raises Unavailable.

        A write of the last second, and a failed or unfinished probe of the last second, count as the answer.
        """
        with self._probe_lock:
            now = time.monotonic()
            if now - self._writer.last_commit_at < PROBE_INTERVAL_S:
                return _DONE
            probe = self._probe
            if probe is None or (
                probe.done() and (probe.exception() is None or now - self._probed_at >= PROBE_INTERVAL_S)
            ):
                self._probe, self._probed_at = self.submit(_write_nothing_new), now
            assert self._probe is not None  # noqa: S101
            return self._probe

    def overwrite_deleted(self) -> bool:
        """Overwrite what was deleted, so that it is not in the files; return whether this is done.

        Others may use the database meanwhile. If they hold it for too long, a later call can do it.
        """
        try:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                if not self.on_sqlite:
                    connection.exec_driver_sql("VACUUM actors, notices, sessions")
                    return True
                connection.exec_driver_sql("VACUUM")
                blocked = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
                return not blocked
        except OperationalError:
            return False

    def close(self) -> None:
        """Finish queued writes and close the database."""
        self._writer.close()
        self.read_cache.close()
        self._engine.dispose()


def _write_nothing_new(transaction: Transaction) -> None:
    """Write a row as it is: that takes the lock, the permissions and the disk space of any write."""
    transaction.write(text("UPDATE alembic_version SET version_num = version_num"))


def create_file(path: Path) -> None:
    """Create the file of a new database, readable only by its owner, because it contains channel secrets."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise Unavailable(f"cannot make the database file {path}: {error.strerror}") from None


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        arguments = {**_POSTGRESQL_CONNECTION, "options": _POSTGRESQL}
        engine = create_engine(
            url, pool_pre_ping=True, pool_timeout=_LOCK_TIMEOUT_S, pool_size=16, connect_args=arguments
        )
        event.listen(engine, "handle_error", _drop_read_only_connections)
        return engine
    engine = create_engine(
        url,
        pool_timeout=_LOCK_TIMEOUT_S,
        pool_size=16,
        max_overflow=48,
        pool_use_lifo=True,  # the connection used last has the pages in its cache
        connect_args={"timeout": _LOCK_TIMEOUT_S, "check_same_thread": False, "isolation_level": None},
    )
    event.listen(engine, "connect", _set_up)
    return engine


def _drop_read_only_connections(context: ExceptionContext) -> None:
    """Connect again after a write was refused as read-only: after a failover the writable server is another one."""
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY_TRANSACTION:
        context.is_disconnect = True


def _set_up(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in _SQLITE:
        cursor.execute(pragma)
    _log_ahead(cursor)
    cursor.close()


def _log_ahead(cursor: sqlite3.Cursor) -> None:
    """Switch to WAL, so that readers do not wait for the writer; SQLite itself does not wait for this lock."""
    until = time.monotonic() + _LOCK_TIMEOUT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_RETRY_INTERVAL_S)
        else:
            return


HEAD = "0031"
"""The newest migration; a test compares it with the files."""

SEAL_BEFORE = "0005"
"""Databases of earlier migrations get digests of all their rows. Raise it if a migration changes covered rows."""

CONVERT_BEFORE = "0017"
"""Databases of earlier migrations contain the names of actors where there are ids now."""

_LOCK_MIGRATIONS = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgresql": "SELECT pg_advisory_xact_lock(7237842390)",
}


def migrate(connection: Connection, clock: Clock, upgrade: Upgrade = Upgrade.AUTO) -> None:
    """Run the migrations that the database has not seen; one process at a time does so."""
    current = current_revision(connection)
    if current == HEAD:
        return
    refuse_later_revision(current)
    if upgrade is Upgrade.MANUAL:
        state = f"is at revision {current}" if current else "has no tables"
        raise Unavailable(
            f"the database {state}, and this version of Treaty needs revision {HEAD}; "
            "run: treaty admin upgrade (with --dry-run to see what it does)"
        )
    connection.rollback()
    with connection.begin():
        connection.exec_driver_sql(_LOCK_MIGRATIONS[connection.dialect.name])
        before = current_revision(connection)
        if before == HEAD:
            return
        run_migrations(connection, HEAD)
        for _, step in steps_after(before):
            step(connection, clock())


def current_revision(connection: Connection) -> str | None:
    """Return the migration that the tables are at; None if there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def refuse_later_revision(revision: str | None) -> None:
    """Refuse a database with migrations that this version does not know."""
    if revision is not None and revision > HEAD:
        raise Unavailable("the database was made by a later version of Treaty; install that version")


def migration_config() -> Config:
    """Return the configuration of Alembic, which is loaded only where there is something to do."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "treaty.registry.store:migrations")
    return config


def run_migrations(connection: Connection, revision: str) -> None:
    """Run the migrations up to a revision."""
    from alembic import command

    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def steps_after(before: str | None) -> Iterator[tuple[str, Callable[[Connection, datetime], object]]]:
    """Yield what is to be done after the migrations of a database that was at a revision, each with a summary."""
    if before is not None and before < CONVERT_BEFORE:
        yield "Ids instead of names of actors, in all rows and in the audit log.", convert
    if before is not None and before < SEAL_BEFORE:
        yield "Digests of all rows in the audit log.", seal
