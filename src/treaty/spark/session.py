"""Starting Spark, quietly, or reaching it over Connect; the library itself never starts a session."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from treaty.errors import Conflict, InvalidDocument, Unavailable
from treaty.spark.jars import Package
from treaty.spark.java import find_java
from treaty.spark.session_options import IcebergCatalog, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_SQLITE = "jdbc:sqlite:"
_CONNECT_PORT = 15002
_PATIENCE = 10
_TAIL = 20


def active_session() -> SparkSession | None:
    """Return the session that is running already, if there is one."""
    return _session_class().getActiveSession()


def spark_session(options: SparkOptions | None = None) -> SparkSession:
    """Return the session that is running already, as it is, or start one."""
    options = options or SparkOptions()
    _hush()
    running = active_session()
    if running is not None:
        return running
    return _reached(options) if options.is_remote else _started(options)


def _hush() -> None:
    """Keep PySpark from printing what is raised anyway, with the whole trace of the JVM."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _session_class() -> type[SparkSession]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Unavailable("this needs Spark, which is not installed: pip install 'treaty[spark]'") from None
    return SparkSession


def _started(options: SparkOptions) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException

    if options.catalog is not None:
        create_catalog_folder(options.catalog)
    builder = _session_class().builder
    conf = SparkConf().setAll(list(options.start_conf().items()))
    with _log(options.log) as log:
        try:
            if SparkContext._gateway is None:
                SparkContext(conf=conf, gateway=_launched(conf, log))
            return builder.config(conf=conf).getOrCreate()
        except (PySparkException, Py4JError) as error:
            raise Unavailable(f"Spark did not start: {_reason(error, log)}") from None


def create_catalog_folder(catalog: IcebergCatalog) -> None:
    """Make the folder of a catalog that is a file: SQLite makes the file, and nothing above it."""
    path = catalog.uri.removeprefix(_SQLITE).partition("?")[0]
    if path == catalog.uri or path.startswith(":"):
        return
    folder = Path(path).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"cannot make the folder {folder} for the catalog: {error.strerror}; set spark.iceberg.uri to another place"
        ) from None


def _launched(conf: Any, log: IO[bytes]) -> Any:
    """Start the JVM with all that it prints going to the log, so that a command's output is its own."""
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
    """Open the log; without a file it goes when Spark does."""
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
    """Return what Java said, or the end of the log where it never came to that."""
    if (raised := getattr(error, "java_exception", None)) is not None:
        return str(raised.getMessage())
    log.seek(0)
    lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return "\n".join(lines[-_TAIL:]) or str(error)


def _reached(options: SparkOptions) -> SparkSession:
    """Open a session on a Connect server, which must be there: its client would ask again for ten minutes."""
    at = urlsplit(options.master)
    where = f"{at.hostname}:{at.port or _CONNECT_PORT}"
    try:
        socket.create_connection((at.hostname or "", at.port or _CONNECT_PORT), timeout=_PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unavailable(
            f"no Spark Connect server at {where}: {reason}; start one, or use --master local[*]"
        ) from None
    try:
        session = _session_class().builder.remote(options.master).getOrCreate()
    except ImportError as error:
        raise Unavailable(f"Spark Connect needs more packages ({error}): pip install 'treaty[connect]'") from None
    for key, value in options.session_conf().items():
        session.conf.set(key, value)
    return session


_HERE = "127.0.0.1"


@contextmanager
def serve_spark(options: SparkOptions, port: int) -> Iterator[str]:
    """Start Spark with every package and serve it on loopback, where whoever may connect may do anything."""
    if options.is_remote:
        raise InvalidDocument(f"spark.master is {options.master}, which is a server already; set local[*] to start one")
    _refuse_taken(port)
    serving = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": _HERE,
        "spark.connect.grpc.binding.port": str(port),
    }
    session = spark_session(replace(options, packages=frozenset(Package), conf={**options.conf, **serving}))
    try:
        yield f"sc://{_HERE}:{port}"
    finally:
        session.stop()


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HERE, port))
        except OSError as error:
            raise Conflict(f"cannot serve on {_HERE}:{port}: {error.strerror}; choose another with --port") from None


def track_progress(session: SparkSession) -> Callable[[], float | None]:
    """Return a function that tells the share of tasks that are done, of those that are known; None where none run."""
    from pyspark.errors import PySparkException

    try:
        tracker = session.sparkContext.statusTracker()
    except PySparkException:  # over Connect there is no context, but the server tells
        return _over_connect(session)

    def share() -> float | None:
        stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
        return _share(sum(one.numCompletedTasks for one in stages), sum(one.numTasks for one in stages))

    return share


def _over_connect(session: Any) -> Callable[[], float | None]:
    latest: list[float | None] = [None]

    def heard(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        stages = [] if done or stages is None else list(stages)
        latest[0] = _share(sum(one.num_completed_tasks for one in stages), sum(one.num_tasks for one in stages))

    session.registerProgressHandler(heard)
    return lambda: latest[0]


def _share(done: int, known: int) -> float | None:
    return done / known if known else None
