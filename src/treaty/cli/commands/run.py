"""`treaty run` and `treaty replay`: run the pipeline of a project."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    FolderArgument,
    MasterOption,
    RemoteOption,
    SelectOption,
    WaitOption,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from treaty.cli.pipeline_project import OpenedProject
    from treaty.cli.progress import Progress
    from treaty.pipeline.run import RunOptions, RunSummary, StepProgress
    from treaty.pipeline.run.run_lock import LockHolder
    from treaty.pipeline.run.step_context import ProgressListener
    from treaty.pipeline.tables import Tables

DEFAULT_INTERVAL_S = 10.0


@dataclass(frozen=True)
class PipelineCall:
    """The options of one call: which project, where Spark runs, how to print the summary, and how often to run."""

    folder: Path
    config: Path | None
    master: str | None
    remote: str | None
    output: AnswerFormat
    interval_s: float | None = None
    """Seconds between runs; None for a single run."""


def run(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    full: Annotated[
        bool, typer.Option("--full", help="Rebuild the selected steps completely from their inputs.")
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Run repeatedly until interrupted.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=1, help="With --follow: the pause between runs.")
    ] = DEFAULT_INTERVAL_S,
    wait: WaitOption = 0.0,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Run the pipeline of a project.

    Reads new data, computes what it affects, audits the result against the contracts, and publishes all or nothing.
    """
    from treaty.pipeline.run import RunOptions

    run_options = RunOptions(tuple(select or ()), rebuild=full, wait=wait)
    _run_and_print(PipelineCall(folder, config, master, remote, output, every if follow else None), run_options)


def replay(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    wait: WaitOption = 0.0,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Rebuild tables from raw rows, without reading the sources.

    Readers see the old tables until the new ones have passed their audit.
    """
    from treaty.pipeline.run import RunOptions

    run_options = RunOptions(tuple(select or ()), rebuild=True, from_raw=True, wait=wait)
    _run_and_print(PipelineCall(folder, config, master, remote, output), run_options)


def _run_and_print(call: PipelineCall, run_options: RunOptions) -> None:
    """Run the pipeline and print a summary. A refused audit and a failed step have different exit codes."""
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_project, require_table_catalog
        from treaty.cli.spark_session import command_session, spark_options
        from treaty.pipeline.tables import Tables
    opened = open_project(call.folder, call.config)
    spark = spark_options(opened.settings.spark(), call.master, call.remote)
    catalog = require_table_catalog(opened.settings, spark)
    with command_session(spark) as (session, progress):
        summary = _run(call, run_options, opened, Tables(session, catalog), progress)
    if call.interval_s is None:
        _print(summary, call.output)
    if not summary.succeeded:
        refused = all(step.outcome.value != "failed" for step in summary.steps)
        raise typer.Exit(ExitCode.FINDINGS if refused else ExitCode.FAILURE)


def _run(
    call: PipelineCall, run_options: RunOptions, opened: OpenedProject, tables: Tables, progress: Progress
) -> RunSummary:
    """Run once, or repeatedly until a run fails or the user interrupts; return the last summary."""
    from treaty.cli.render.plain_text import printable
    from treaty.pipeline.run import RunEnvironment, run_project
    from treaty.pipeline.run.measures import record_measures

    secrets = opened.settings.secrets
    environment = RunEnvironment(
        _step_listener(progress), _lock_listener(progress), secrets.jdbc_password, secrets.hash_secret
    )
    by_line = dict(opened.contracts.by_line)
    while True:
        summary = run_project(tables, opened.project, by_line, run_options, environment)
        progress.start("storing measurements")
        if problem := record_measures(summary, opened.registry):
            typer.echo(f"warning: {printable(problem)}", err=True)
        if call.interval_s is None or not summary.succeeded:
            return summary
        _print(summary, call.output)
        progress.start(f"waiting {call.interval_s:g} s for the next run; stop with Ctrl+C")
        try:
            time.sleep(call.interval_s)
        except KeyboardInterrupt:
            return summary


def _step_listener(progress: Progress) -> ProgressListener:
    def show(event: StepProgress) -> None:
        details = f": {event.detail}" if event.detail else ""
        progress.start(f"{event.number}/{event.total}  {event.layer}  {event.step}  {event.phase}{details}")

    return show


def _lock_listener(progress: Progress) -> Callable[[LockHolder | None], None]:
    def show(holder: LockHolder | None) -> None:
        progress.start(f"waiting for {holder or 'another run'}")

    return show


def _print(summary: RunSummary, output: AnswerFormat) -> None:
    from treaty.cli.render.pipeline_run import print_run

    if output is AnswerFormat.JSON:
        typer.echo(json.dumps(summary.as_data(), ensure_ascii=False))
    else:
        print_run(summary)
