"""The Spark session of one command: where it runs, and that a session started for the command is stopped again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import typer

from treaty.cli.progress import Progress, show_progress
from treaty.cli.registry_connection import STATE_FOLDER, create_state_folder
from treaty.spark.session import active_session, create_catalog_folder, spark_session
from treaty.spark.session_options import DEFAULT_MASTER, Sharing, Start
from treaty.spark.shared_spark import describe_misfit, find_shared_spark, use_shared_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.spark.session_options import IcebergCatalog, SparkOptions


def spark_options(
    configured: SparkOptions, master: str | None, remote: str | None, start: Start = Start.FAST
) -> SparkOptions:
    """Return the configured options, with the place from --master or --remote if one of them is given.

    Without any place, a command uses the shared Spark of the user if one is running.
    """
    if master is not None and remote is not None:
        raise typer.BadParameter("--master and --remote exclude each other", param_hint="--remote")
    if remote is not None and not remote.startswith("sc://"):
        raise typer.BadParameter(
            f"{remote!r} is not a Spark Connect server; write it like sc://host:15002", param_hint="--remote"
        )
    place = master or remote
    if place is not None:
        return replace(configured, master=place, start=start)
    sharing = Sharing.IF_RUNNING if configured.master == DEFAULT_MASTER else Sharing.NONE
    return replace(configured, start=start, sharing=sharing)


@contextmanager
def command_session(options: SparkOptions) -> Iterator[tuple[SparkSession, Progress]]:
    """Use the active session or the shared Spark, or start one, and show progress meanwhile."""
    with show_progress() as progress, _session_for(options, progress) as session:
        yield session, progress


@contextmanager
def _session_for(options: SparkOptions, progress: Progress) -> Iterator[SparkSession]:
    active = active_session()
    with ExitStack() as stack:
        session = active or _start(options, progress, stack)
        try:
            yield session
        finally:
            if active is None:
                progress.start("stopping Spark")
                session.stop()


@contextmanager
def deferred_session(options: SparkOptions) -> Iterator[tuple[SparkSession, Progress]]:
    """Yield a session that is opened as by `command_session` when it is first used; else Spark never starts.

    The folder of the catalog exists afterwards: tables may be read without Spark before the first run.
    """
    if options.catalog is not None:
        create_lake_folder(options.catalog)
    with ExitStack() as stack, show_progress() as progress:
        deferred = _DeferredSession(lambda: stack.enter_context(_session_for(options, progress)))
        yield cast("SparkSession", deferred), progress


def create_lake_folder(catalog: IcebergCatalog) -> None:
    """Create the folder of an SQLite catalog, and keep that of a project's own lake out of its repository."""
    folder = Path(catalog.warehouse).parent.parent
    if folder.name == STATE_FOLDER:
        create_state_folder(folder)
    create_catalog_folder(catalog)


class _DeferredSession:
    """Stands in for a session and opens it with the first access; steps may use it from several threads."""

    def __init__(self, open_session: Callable[[], SparkSession]) -> None:
        self._open_session = open_session
        self._session: SparkSession | None = None
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        with self._lock:
            if self._session is None:
                self._session = self._open_session()
        return getattr(self._session, name)


def _start(options: SparkOptions, progress: Progress, stack: ExitStack) -> SparkSession:
    connected = _connect_to_shared(options, stack) if options.sharing is Sharing.IF_RUNNING else None
    if connected is None and not options.is_remote:
        hint = "; `treaty spark up` keeps one running for all commands" if options.sharing is Sharing.IF_RUNNING else ""
        progress.announce(f"starting Spark{hint}")
    return spark_session(connected or options)


def _connect_to_shared(options: SparkOptions, stack: ExitStack) -> SparkOptions | None:
    """Return options for the shared Spark, which is kept running until the command ends; None without one."""
    shared = find_shared_spark()
    if shared is None:
        return None
    if (misfit := describe_misfit(options, shared)) is not None:
        typer.echo(f"the shared Spark is not used: {misfit}", err=True)
        return None
    return stack.enter_context(use_shared_spark(options, shared))
