"""`treaty monitor`: freshness and drift of the tables of a project between runs, without Spark."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import AnswerFormat, AnswerFormatOption, ConfigOption, FolderArgument, TokenFileOption

if TYPE_CHECKING:
    from treaty.cli.pipeline_project import OpenedProject
    from treaty.pipeline.run.monitoring import MonitorReport
    from treaty.pipeline.tables import TableCatalog

DEFAULT_INTERVAL_S = 60.0


def monitor(
    folder: FolderArgument = Path(),
    follow: Annotated[bool, typer.Option("--follow", help="Measure repeatedly until interrupted.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=1, help="With --follow: the pause between checks.")
    ] = DEFAULT_INTERVAL_S,
    times: Annotated[
        int | None,
        typer.Option("--times", metavar="N", min=1, help="With --follow: stop after N checks.", show_default=False),
    ] = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Measure freshness and schema drift of the published tables, and record them in the registry.

    Reads only the metadata of the tables, without Spark, so that it can run often. Exits with 3 if a promise is broken.
    """
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_catalog, open_project
    opened = open_project(folder, config, token_file)
    catalog = open_catalog(opened.settings)
    checks = 0
    while True:
        report = _check(opened, catalog)
        _print(report, output)
        checks += 1
        if not follow or checks == times:
            break
        try:
            time.sleep(every)
        except KeyboardInterrupt:
            break
    if report.state is not None and report.state.value == "failing":
        raise typer.Exit(ExitCode.FINDINGS)


def _check(opened: OpenedProject, catalog: TableCatalog) -> MonitorReport:
    """Check all tables once, and record the measures; a registry that is down is only a warning."""
    from treaty.cli.render.plain_text import printable
    from treaty.pipeline.plan import plan
    from treaty.pipeline.run.monitoring import monitor_tables
    from treaty.pipeline.run.registry_records import record_all

    steps = plan(opened.project, opened.contracts.by_line).steps
    report = monitor_tables(steps, catalog, opened.project.name, datetime.now(UTC))
    problem = record_all(report.measures, opened.registry)
    if problem:
        typer.echo(f"warning: the measures were not recorded: {printable(problem)}", err=True)
    return report


def _print(report: MonitorReport, output: AnswerFormat) -> None:
    if output is AnswerFormat.JSON:
        typer.echo(json.dumps(report.as_data(), ensure_ascii=False))
        return
    from treaty.cli.render.monitoring import render_monitoring

    render_monitoring(report)
