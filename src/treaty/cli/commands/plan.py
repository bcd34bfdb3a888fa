"""`treaty plan`: what a run would do, why, and what stands against it."""

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


def run(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    lineage: Annotated[
        list[str] | None,
        typer.Option(
            "--lineage",
            metavar="NAME[.COLUMN]",
            help="Show where the columns of this come from; * for everything. May be repeated.",
            show_default=False,
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Look at the files of the project only; Spark is not started.")
    ] = False,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Plan the pipeline of a project.

    Shows its steps in layers, what would run and why, by key or whole, and every problem there is before anything runs.
    """
    from treaty.cli.pipeline_project import open_project
    from treaty.cli.registry_connection import needing
    from treaty.errors import InvalidDocument

    with needing("spark"):
        from treaty.cli import data_tests
        from treaty.cli.pipeline_project import full_plan, offline_plan
        from treaty.cli.render.pipeline_plan import Shown, print_plan, print_problems
        from treaty.pipeline.plan import select as chosen
    try:
        opened = open_project(folder, config)
    except InvalidDocument as error:
        if not error.findings:
            raise
        print_problems(error.findings, output)
        raise typer.Exit(ExitCode.FINDINGS) from None
    if offline:
        made = offline_plan(opened)
    else:
        made = full_plan(opened, data_tests.spark_options(opened.settings.spark(), master, remote))
    steps = {step.table for step in chosen(made.steps, select or ())}
    name = opened.settings.name or opened.project.folder.name
    print_plan(Shown(name, made, frozenset(steps), tuple(lineage or ())), output)
    if made.errors:
        raise typer.Exit(ExitCode.FINDINGS)
