"""`treaty run` and `treaty replay`: run the pipeline of a project."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
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
    metrics_file: Path | None = None
    """The file that the measures of each run are written to for Prometheus."""


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
    metrics_file: Annotated[
        Path | None,
        typer.Option(
            "--metrics-file",
            metavar="FILE.prom",
            help="Write the measures of the run to this file, for the textfile collector of Prometheus.",
            show_default=False,
        ),
    ] = None,
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
    if metrics_file is not None:
        from treaty.cli.metrics_file import check_metrics_file

        check_metrics_file(metrics_file)
    interval = every if follow else None
    run_and_print(PipelineCall(folder, config, master, remote, output, interval, metrics_file), run_options)


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
    run_and_print(PipelineCall(folder, config, master, remote, output), run_options)


def run_and_print(call: PipelineCall, run_options: RunOptions) -> None:
    """Run the pipeline and print a summary; a failed step, a refused audit and files set apart set the exit code."""
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import needed_packages, open_project, require_table_catalog, run_retention
        from treaty.cli.spark_session import deferred_session, spark_options
        from treaty.pipeline.tables import TableCatalog, Tables
        from treaty.spark.session_options import Start
    from treaty.tracing import tracing

    opened = open_project(call.folder, call.config)
    spark = spark_options(opened.settings.spark(), call.master, call.remote, Start.THROUGHPUT)
    spark = spark.needing(needed_packages(opened.project))
    catalog = require_table_catalog(opened.settings, spark)
    with tracing("treaty-run", parent=os.environ), deferred_session(spark) as (session, progress):
        tables = Tables(session, catalog, TableCatalog.from_options(spark))
        options = replace(run_options, retention=run_retention(opened.settings))
        warehouse = spark.catalog.warehouse if spark.catalog else "/"
        summary = _run(call, options, opened, tables, progress, warehouse)
    if call.interval_s is None or not summary.succeeded:
        _print(summary, call.output)
    if not summary.succeeded:
        refused = all(step.outcome.value != "failed" for step in summary.steps)
        raise typer.Exit(ExitCode.FINDINGS if refused else ExitCode.FAILURE)
    if summary.newly_set_apart and opened.settings.parts.pipeline.on_set_apart == "fail":
        raise typer.Exit(ExitCode.FINDINGS)


def _run(
    call: PipelineCall,
    run_options: RunOptions,
    opened: OpenedProject,
    tables: Tables,
    progress: Progress,
    warehouse: str,
) -> RunSummary:
    """Run once, or repeatedly until a run fails or the user interrupts; return the last summary."""
    from treaty.cli.follower import Follower
    from treaty.cli.render.plain_text import printable
    from treaty.cli.run_lineage import lineage_events
    from treaty.cli.schema_resolution import schema_resolver
    from treaty.cli.sink_environment import sink_environment
    from treaty.pipeline.plan import plan, select
    from treaty.pipeline.run import RunEnvironment, run_project
    from treaty.pipeline.run.registry_records import record_lineage, record_measures, record_profiles
    from treaty.tracing import span

    secrets = opened.settings.secrets
    environment = RunEnvironment(
        _step_listener(progress),
        _lock_listener(progress),
        secrets.jdbc_password,
        secrets.hash_secret,
        sink_environment(opened),
        schema_resolver(opened.project, opened.settings),
    )
    by_line = dict(opened.contracts.by_line)
    planned = plan(opened.project, by_line)
    follower = None
    if call.interval_s is not None:
        follower = Follower(opened.project, select(planned.steps, run_options.select), tables.catalog, call.interval_s)
    tables_due: tuple[str, ...] = ()
    while True:
        started = time.monotonic()
        options = replace(run_options, select=tables_due) if tables_due else run_options
        with span("treaty.run", project=opened.project.name) as current:
            with lineage_events(opened, planned, warehouse) as events:
                summary = replace(
                    run_project(tables, opened.project, by_line, options, environment, events.started_at),
                    last_known=opened.contracts.last_known,
                )
                events.summary = summary
            progress.start("storing measurements and lineage")
            unlinked = record_lineage(planned, opened.registry)  # first: incidents follow the lineage
            problem = record_measures(summary, opened.registry) or unlinked
            problem = problem or record_profiles(summary, opened.registry) or events.problem
            current.set(run=summary.run, succeeded=summary.succeeded)
            if not summary.succeeded:
                current.fail("a step was refused or failed")
        if problem:
            typer.echo(f"warning: {printable(problem)}", err=True)
        if call.metrics_file is not None:
            _write_metrics(call.metrics_file, summary, opened)
        if follower is None or not summary.succeeded:
            return summary
        _print(summary, call.output)
        follower.note_run(tables_due, started)
        progress.start(f"waiting for {'records' if follower.topics else 'the next run'}; stop with Ctrl+C")
        try:
            tables_due = follower.wait()
        except KeyboardInterrupt:
            return summary


def _write_metrics(file: Path, summary: RunSummary, opened: OpenedProject) -> None:
    """Write the measures of a run, judged by the contracts of the project."""
    from treaty.cli.metrics_file import write_metrics
    from treaty.contracts.versions import try_parse_line
    from treaty.observability import evaluate_measure
    from treaty.pipeline.run.registry_records import measure_run

    contracts = opened.contracts.by_line
    measures = [
        evaluate_measure(measure, contracts[line])
        if (line := try_parse_line(measure.contract)) in contracts and line is not None
        else measure
        for measure in measure_run(summary)
    ]
    write_metrics(file, summary.project, summary.run, measures)


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
