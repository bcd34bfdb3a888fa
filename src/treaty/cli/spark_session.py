"""The Spark session of one command: where it runs, and that a session started for the command is stopped again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from treaty.cli.progress import Progress, show_progress
from treaty.spark.session import active_session, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.spark.session_options import SparkOptions


def spark_options(configured: SparkOptions, master: str | None, remote: str | None) -> SparkOptions:
    """Return the configured options, with the place from --master or --remote if one of them is given."""
    if master is not None and remote is not None:
        raise typer.BadParameter("--master and --remote exclude each other", param_hint="--remote")
    if remote is not None and not remote.startswith("sc://"):
        raise typer.BadParameter(
            f"{remote!r} is not a Spark Connect server; write it like sc://host:15002", param_hint="--remote"
        )
    place = master or remote
    return configured if place is None else replace(configured, master=place)


@contextmanager
def command_session(options: SparkOptions) -> Iterator[tuple[SparkSession, Progress]]:
    """Use the active session or start one, and show progress meanwhile."""
    active = active_session()
    with show_progress() as progress:
        progress.start("starting Spark")
        session = active or spark_session(options)
        try:
            yield session, progress
        finally:
            if active is None:
                progress.start("stopping Spark")
                session.stop()
