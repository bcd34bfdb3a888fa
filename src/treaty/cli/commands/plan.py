"""`treaty plan`: what a run would do and why, and the problems that would stop it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
)


def plan(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    lineage: Annotated[
        list[str] | None,
        typer.Option(
            "--lineage",
            metavar="NAME[.COLUMN]",
            help="Show the origin of its columns; * for everything. Repeatable.",
            show_default=False,
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only the files of the project; do not start Spark.")
    ] = False,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Show what a run would do.

    Lists the steps by layer, which of them would run and why, incrementally or completely, and every problem.
    """
    from treaty.cli.pipeline_project import open_project
    from treaty.cli.registry_connection import requires_extra
    from treaty.errors import InvalidDocument

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import live_plan, offline_plan
        from treaty.cli.render.pipeline_plan import PlanView, print_plan, print_problems
        from treaty.cli.spark_session import spark_options
        from treaty.pipeline.plan import select as select_steps
    try:
        opened = open_project(folder, config)
    except InvalidDocument as error:
        if not error.findings:
            raise
        print_problems(error.findings, output)
        raise typer.Exit(ExitCode.FINDINGS) from None
    if offline:
        result = offline_plan(opened)
    else:
        result = live_plan(opened, spark_options(opened.settings.spark(), master, remote))
    steps = {step.table for step in select_steps(result.steps, select or ())}
    name = opened.settings.name or opened.project.folder.name
    print_plan(PlanView(name, result, frozenset(steps), tuple(lineage or ())), output)
    if result.errors:
        raise typer.Exit(ExitCode.FINDINGS)
