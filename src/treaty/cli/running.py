"""Running a pipeline from the command line: Spark is started, every step is shown, and the summary is printed."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import AnswerFormat
from treaty.cli.pipeline_project import OpenedProject, open_project
from treaty.cli.progress import Steps, told_steps
from treaty.cli.registry_connection import needing
from treaty.cli.render.printable import visible
from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Callable

    from treaty.pipeline.run import Happening, RunSummary, Wish
    from treaty.pipeline.run.run_lock import Holder
    from treaty.pipeline.run.step_context import Teller
    from treaty.pipeline.tables import Tables


@dataclass(frozen=True)
class Asked:
    """A run that is asked for on the command line."""

    folder: Path
    config: Path | None
    master: str | None
    remote: str | None
    output: AnswerFormat
    every: float | None = None
    """Seconds between runs that follow each other; without them, there is one."""


def run_and_print(asked: Asked, wish: Wish) -> None:
    """Run, and print what was done; findings have an exit code of their own."""
    with needing("spark"):
        from treaty.cli import data_tests
        from treaty.pipeline.tables import Tables
        from treaty.spark.session import active_session, spark_session
    opened = open_project(asked.folder, asked.config)
    spark = data_tests.spark_options(opened.settings.spark(), asked.master, asked.remote)
    if spark.catalog is None:
        where = opened.settings.source or "treaty.yaml"
        raise InvalidDocument(f"{where} names no catalog of tables; set spark.iceberg.uri and spark.iceberg.warehouse")
    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(spark)
        try:
            summary = _run(asked, wish, opened, Tables(session, spark.catalog.name), steps)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()
    if asked.every is None:
        _print(summary, asked.output)
    if not summary.succeeded:
        refused = all(step.outcome.value != "failed" for step in summary.steps)
        raise typer.Exit(ExitCode.FINDINGS if refused else ExitCode.FAILURE)


def _run(asked: Asked, wish: Wish, opened: OpenedProject, tables: Tables, steps: Steps) -> RunSummary:
    from treaty.pipeline.run import Means, run_project
    from treaty.pipeline.run.measures import keep_measures

    secrets = opened.settings.secrets
    means = Means(_teller(steps), _waiting(steps), secrets.jdbc_password, secrets.hash_secret)
    by_line = dict(opened.contracts.by_line)
    while True:
        summary = run_project(tables, opened.project, by_line, wish, means)
        steps.tell("keeping what was measured")
        if lost := keep_measures(summary, opened.registry):
            typer.echo(f"warning: {visible(lost)}", err=True)
        if asked.every is None or not summary.succeeded:
            return summary
        _print(summary, asked.output)
        steps.tell(f"resting for {asked.every:g} s; end with Ctrl+C")
        try:
            time.sleep(asked.every)
        except KeyboardInterrupt:
            return summary


def _teller(steps: Steps) -> Teller:
    def tell(happening: Happening) -> None:
        words = f": {happening.words}" if happening.words else ""
        steps.tell(f"{happening.number}/{happening.of}  {happening.layer}  {happening.step}  {happening.moment}{words}")

    return tell


def _waiting(steps: Steps) -> Callable[[Holder | None], None]:
    def waiting(holder: Holder | None) -> None:
        steps.tell(f"waiting for {holder or 'another run'}")

    return waiting


def _print(summary: RunSummary, output: AnswerFormat) -> None:
    from treaty.cli.render.pipeline_run import print_run

    if output is AnswerFormat.JSON:
        typer.echo(json.dumps(summary.as_data(), ensure_ascii=False))
    else:
        print_run(summary)
