"""Start, connect to or serve a Spark session, and track its progress. The library never starts one itself."""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from treaty.errors import Conflict, Unavailable
from treaty.spark.jars import Package
from treaty.spark.java import find_java
from treaty.spark.session_options import EXTENSIONS, IcebergCatalog, Sharing, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_CONNECT_PORT = 15002
_CONNECT_TIMEOUT_S = 10
_LOG_TAIL_LINES = 20


def active_session() -> SparkSession | None:
    """Return the active session; None if there is none."""
    return _session_class().getActiveSession()


def spark_session(options: SparkOptions | None = None) -> SparkSession:
    """Return the active session unchanged, or start one."""
    options = options or SparkOptions()
    _silence_loggers()
    running = active_session()
    if running is not None:
        return running
    return _connect(options) if options.is_remote else _start(options)


def _silence_loggers() -> None:
    """Silence loggers that print exceptions, with JVM stack traces, in addition to raising them."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _session_class() -> type[SparkSession]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Unavailable("PySpark is not installed; run: pip install 'treaty[spark]'") from None
    return SparkSession


def _start(options: SparkOptions) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException

    if options.catalog is not None:
        create_catalog_folder(options.catalog)
    if options.master.startswith("local"):  # workers on this machine run with the packages of this process
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = _session_class().builder
    conf = SparkConf().setAll(list(options.start_conf().items()))
    with _log(options.log) as log:
        try:
            if SparkContext._gateway is None:
                SparkContext(conf=conf, gateway=_launch_jvm(conf, log))
            return builder.config(conf=conf).getOrCreate()
        except (PySparkException, Py4JError) as error:
            raise Unavailable(f"Spark did not start: {_reason(error, log)}") from None


def create_catalog_folder(catalog: IcebergCatalog) -> None:
    """Create the folder of an SQLite catalog, because SQLite creates only the file."""
    if catalog.sqlite_file is None:
        return
    folder = catalog.sqlite_file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"cannot create the folder {folder} for the catalog: {error.strerror}; change spark.iceberg.uri"
        ) from None


def _launch_jvm(conf: Any, log: IO[bytes]) -> Any:
    """Start the JVM with its output redirected to the log, so that it does not mix with that of the command."""
    from pyspark.java_gateway import launch_gateway

    with _java_home(find_java().home):
        return launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]


@contextmanager
def _java_home(home: Path) -> Iterator[None]:
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


@contextmanager
def _log(file: Path | None) -> Iterator[IO[bytes]]:
    """Open the log; without a path it is a temporary file."""
    if file is None:
        with tempfile.TemporaryFile() as log:
            yield log
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        log = file.open("a+b")
    except OSError as error:
        raise Unavailable(f"cannot write Spark's log to {file}: {error.strerror}") from None
    with log:
        yield log


def _reason(error: Exception, log: IO[bytes]) -> str:
    """Return the message of the Java exception, or the end of the log if there is none."""
    if (raised := getattr(error, "java_exception", None)) is not None:
        return str(raised.getMessage())
    log.seek(0)
    lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return "\n".join(lines[-_LOG_TAIL_LINES:]) or str(error)


def _connect(options: SparkOptions) -> SparkSession:
    """Connect to a Spark Connect server; fail fast, because its client retries for ten minutes."""
    if options.catalog is not None and options.sharing is Sharing.CONNECTED:
        create_catalog_folder(options.catalog)
    at = urlsplit(options.master)
    where = f"{at.hostname}:{at.port or _CONNECT_PORT}"
    try:
        socket.create_connection((at.hostname or "", at.port or _CONNECT_PORT), timeout=_CONNECT_TIMEOUT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unavailable(f"no Spark Connect server at {where}: {reason}; start it, or use --master local[*]") from None
    try:
        session = _session_class().builder.remote(options.master).getOrCreate()
    except ImportError as error:
        raise Unavailable(f"Spark Connect needs more packages ({error}); run: pip install 'treaty[connect]'") from None
    for key, value in options.session_conf().items():
        session.conf.set(key, value)
    if options.sharing is Sharing.CONNECTED:
        session.release_session_on_close = False  # type: ignore[attr-defined]  # later commands use it again
    return session


_LOOPBACK = "127.0.0.1"
_HOST_KEY = "spark.treaty.host"
"""A setting of a Spark that `treaty` serves: the machine whose files it reads."""


def shares_files(session: SparkSession) -> bool:
    """Tell whether a session reads the files of this machine: not a Connect server elsewhere."""
    from pyspark.sql import is_remote

    return not is_remote() or session.conf.get(_HOST_KEY, "") == socket.gethostname()


@contextmanager
def serve_spark(options: SparkOptions, port: int | None, token: str) -> Iterator[str]:
    """Serve Spark Connect on the loopback interface, for clients that have the token, and yield its address.

    Every package is on the class path, so that a session can use any catalog and source.
    """
    port = _free_port() if port is None else _unused_port(port)
    serving = {
        **EXTENSIONS,
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": _LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        _HOST_KEY: socket.gethostname(),
    }
    os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = token  # as a setting, other users could see it in `ps`
    session = spark_session(replace(options, packages=frozenset(Package), conf={**options.conf, **serving}))
    try:
        yield f"sc://localhost:{port}"  # for this name, clients send a token without TLS
    finally:
        session.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _unused_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_LOOPBACK, port))
        except OSError as error:
            raise Conflict(
                f"cannot serve on {_LOOPBACK}:{port}: {error.strerror}; choose another with --port"
            ) from None
    return port


def track_progress(session: SparkSession) -> Callable[[], float | None]:
    """Return a function that gives the share of known tasks that are done; None if none are running."""
    from pyspark.errors import PySparkException

    try:
        tracker = session.sparkContext.statusTracker()
    except PySparkException:  # Connect has no context, but its server reports progress
        return _over_connect(session)

    def share() -> float | None:
        stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
        return _share(sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages))

    return share


def _over_connect(session: Any) -> Callable[[], float | None]:
    latest: list[float | None] = [None]

    def handle_progress(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        stages = [] if done or stages is None else list(stages)
        latest[0] = _share(sum(stage.num_completed_tasks for stage in stages), sum(stage.num_tasks for stage in stages))

    session.registerProgressHandler(handle_progress)
    return lambda: latest[0]


def _share(done: int, known: int) -> float | None:
    return done / known if known else None
