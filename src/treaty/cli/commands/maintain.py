"""`treaty maintain`: expire old states of all tables, remove files that none needs, and compact small files."""

from __future__ import annotations

import json
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
    WaitOption,
)

if TYPE_CHECKING:
    from treaty.pipeline.maintenance import Upkeep


def maintain(
    folder: FolderArgument = Path(),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed and compacted, and change nothing.")
    ] = False,
    wait: WaitOption = 0.0,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Expire old states of tables, and compact small files.

    Runs do this too, for the tables that they change. The settings pipeline.keep_days and pipeline.keep_runs say how
    much history is kept.
    """
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import configured_retention, open_project, open_tables
        from treaty.cli.spark_session import spark_options
        from treaty.pipeline.run.upkeep import maintain_project
    opened = open_project(folder, config)
    spark = spark_options(opened.settings.spark(), master, remote)
    with open_tables(opened.settings, spark) as tables:
        contracts, retention = dict(opened.contracts.by_line), configured_retention(opened.settings)
        upkeep = maintain_project(tables, opened.project, contracts, retention, dry_run=dry_run, wait=wait)
    _print(upkeep, output)
    if upkeep.problems:
        raise typer.Exit(ExitCode.FAILURE)


def _print(upkeep: Upkeep, output: AnswerFormat) -> None:
    from treaty.cli.render.upkeep import print_upkeep

    if output is AnswerFormat.JSON:
        typer.echo(json.dumps(upkeep.as_data(), ensure_ascii=False))
    else:
        print_upkeep(upkeep)
