"""The shared Spark of a user: one server in the background that the commands of every project find by themselves.

Its address and token are in a file that only the user can read. Two locks of the operating system, released when a
process ends, replace guesses about process ids: the server holds one while it runs, each command another while it
uses the server.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import secrets
import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from treaty.errors import Conflict, Unavailable
from treaty.spark.session import create_catalog_folder, serve_spark
from treaty.spark.session_options import DEFAULT_MASTER, Sharing, SparkOptions, Start

POLL_INTERVAL_S = 1.0

_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4}
_SESSION_PREFIX = "spark.sql."
_STATIC = frozenset(
    f"{_SESSION_PREFIX}{name}" for name in ("extensions", "warehouse.dir", "catalogImplementation", "cache.serializer")
)
"""Settings of SQL that Spark accepts only at its start."""


@dataclass(frozen=True)
class SharedSpark:
    """A running shared Spark, as its file describes it."""

    address: str
    token: str
    pid: int
    started: float
    """Seconds since 1970."""
    memory: str
    version: str
    """The version of PySpark."""
    idle_s: float
    """After how many seconds without use it stops."""

    @property
    def url(self) -> str:
        """The address with the token, for a client."""
        return f"{self.address}/;token={self.token}"


def state_folder() -> Path:
    """Return the folder of the user's state: XDG_STATE_HOME, or ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "treaty"


def create_state_folder() -> Path:
    """Create the folder of the user's state; only the user can read it."""
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unavailable(f"cannot create {folder}: {error.strerror}; set XDG_STATE_HOME to another folder") from None
    if not os.access(folder, os.W_OK):
        raise Unavailable(f"cannot write to {folder}; set XDG_STATE_HOME to another folder")
    return folder


def log_file() -> Path:
    """Return the log of the shared Spark."""
    return state_folder() / "spark.log"


def _address_file() -> Path:
    return state_folder() / "spark.json"


def find_shared_spark() -> SharedSpark | None:
    """Return the shared Spark if it is running."""
    file = _address_file()
    try:
        with file.open(encoding="utf-8") as text:
            status = os.fstat(text.fileno())
            if status.st_uid != os.getuid() or status.st_mode & 0o077:
                raise Unavailable(f"{file} can be read or written by other users; delete it")
            shared = SharedSpark(**json.load(text))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise Unavailable(f"{file} is not the address of a shared Spark; delete it") from None
    return shared if _is_locked(state_folder() / "spark.lock", fcntl.LOCK_SH) else None


def _is_locked(file: Path, kind: int) -> bool:
    """Tell whether another process holds a lock on a file that excludes this kind of lock."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def describe_misfit(options: SparkOptions, shared: SharedSpark) -> str | None:
    """Explain why a project cannot use the shared Spark; None if it can."""
    from pyspark import __version__ as version

    if shared.version != version:
        return f"it runs PySpark {shared.version}, this is {version}"
    if _bytes(options.memory) > _bytes(shared.memory):
        return f"it has {shared.memory} of memory, spark.memory is {options.memory}"
    fixed = [key for key in options.conf if not key.startswith(_SESSION_PREFIX) or key in _STATIC]
    return f"{fixed[0]} can only be set when Spark starts" if fixed else None


def _bytes(memory: str) -> int:
    return int(memory[:-1]) << 10 * _UNITS[memory[-1].lower()]


@contextmanager
def use_shared_spark(options: SparkOptions, shared: SharedSpark) -> Iterator[SparkOptions | None]:
    """Yield options that connect to the shared Spark, which keeps running meanwhile; None if it has just stopped."""
    file = _address_file()
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        yield None
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # waits while the server decides whether it is idle
        if not (file.exists() and file.stat().st_ino == os.fstat(descriptor).st_ino):
            yield None
            return
        connected = replace(options, master=shared.url, sharing=Sharing.CONNECTED)
        with _session_id(shared, connected) as session_id:
            yield replace(connected, master=f"{shared.url};session_id={session_id}")
        os.utime(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _session_id(shared: SharedSpark, options: SparkOptions) -> Iterator[uuid.UUID]:
    """Yield the id of a session with these settings that no other command uses.

    Sessions are used again, because a catalog keeps its database connections open as long as Spark runs. A catalog that
    was deleted and created again is another database, so it gets another session.
    """
    folder = state_folder() / "sessions"
    folder.mkdir(exist_ok=True, mode=0o700)
    settings = json.dumps([shared.pid, shared.started, sorted(options.session_conf().items()), _database_id(options)])
    for number in itertools.count():
        session_id = uuid.uuid5(uuid.NAMESPACE_URL, f"{settings} {number}")
        descriptor = os.open(folder / str(session_id), os.O_RDONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        try:
            yield session_id
        finally:
            os.close(descriptor)
        return


def _database_id(options: SparkOptions) -> tuple[int, int] | None:
    """Identify the SQLite file of the catalog, which is created if there is none; None for other catalogs.

    The number of a deleted file is not given to another one as long as Spark has it open.
    """
    if options.catalog is None or options.catalog.sqlite_file is None:
        return None
    create_catalog_folder(options.catalog)
    file = options.catalog.sqlite_file
    try:
        if not file.exists():  # to open an existing one would release the locks of this process on it
            file.touch()
        status = file.stat()
    except OSError as error:
        raise Unavailable(f"cannot create the catalog {file}: {error.strerror}; change spark.iceberg.uri") from None
    return status.st_dev, status.st_ino


def is_in_use() -> bool:
    """Tell whether a command uses the shared Spark."""
    return _is_locked(_address_file(), fcntl.LOCK_EX)


def serve_shared_spark(options: SparkOptions, port: int | None, idle_s: float, stop: threading.Event) -> Iterator[str]:
    """Serve until `stop` is set or no command has used it for `idle_s` seconds; yield the address, then the reason."""
    from pyspark import __version__ as version

    token = secrets.token_urlsafe(32)
    local = replace(
        options,
        master=options.master if options.is_local else DEFAULT_MASTER,
        name="treaty (shared)",
        start=Start.THROUGHPUT,
        catalog=None,
        conf={
            "spark.sql.warehouse.dir": str(state_folder() / "tables"),
            "spark.connect.session.manager.defaultSessionTimeout": "3650d",  # the id of an expired one is refused
        },
        log=log_file(),
    )
    with _server_lock(), serve_spark(local, port, token) as address:
        shutil.rmtree(state_folder() / "sessions", ignore_errors=True)
        _write_address(SharedSpark(address, token, os.getpid(), time.time(), options.memory, version, idle_s))
        try:
            yield address
            yield _wait(idle_s, stop)
        finally:
            _address_file().unlink(missing_ok=True)


@contextmanager
def _server_lock() -> Iterator[None]:
    """Hold the lock of the server; there is one per user."""
    descriptor = os.open(create_state_folder() / "spark.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int) -> None:
    """Take the lock of the server; commands that look for a server hold it for an instant."""
    deadline = time.monotonic() + POLL_INTERVAL_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Conflict("a shared Spark is running or starting; see: treaty spark status") from None
            time.sleep(POLL_INTERVAL_S / 10)
        else:
            return


def _write_address(shared: SharedSpark) -> None:
    file = _address_file()
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as text:
        json.dump(asdict(shared), text)
    temporary.rename(file)


def _wait(idle_s: float, stop: threading.Event) -> str:
    file = _address_file()
    used = time.time()
    while not stop.wait(min(POLL_INTERVAL_S, idle_s)):
        descriptor = os.open(file, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            used = max(used, file.stat().st_mtime)
            if time.time() - used >= idle_s:
                file.unlink()  # while locked, so that a command that waits for the lock finds no address
                return f"no command used it for {idle_s:g} s"
        except BlockingIOError:
            used = time.time()
        finally:
            os.close(descriptor)
    return "stopped"
