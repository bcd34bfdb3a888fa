"""`treaty erase`: remove a key from every table of a project, its raw rows and its history included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import AnswerFormat, AnswerFormatOption, ConfigOption, MasterOption, RemoteOption, WaitOption

if TYPE_CHECKING:
    from treaty.pipeline.erasure import Erasure


def erase(
    contract: Annotated[
        str, typer.Argument(metavar="CONTRACT", help="The contract, its line, or the name of a declaration.")
    ],
    key: Annotated[
        list[str],
        typer.Option(
            "--key",
            metavar="VALUE|FIELD=VALUE",
            help="The value of the key; repeat FIELD=VALUE for a key of several fields.",
        ),
    ],
    folder: Annotated[Path, typer.Option("--project", metavar="FOLDER", help="The folder of the project.")] = Path(),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the rows and list the files, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase without asking for confirmation.")] = False,
    wait: WaitOption = 0.0,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Erase a key from all tables, with its raw rows.

    Rebuilds what depends on the rows, and removes the older states of these tables. This cannot be undone.
    """
    from treaty.cli.registry_connection import requires_extra
    from treaty.cli.render.plain_text import printable
    from treaty.cli.schema_resolution import schema_resolver

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_project, require_table_catalog
        from treaty.cli.sink_environment import sink_environment
        from treaty.cli.spark_session import deferred_session, spark_options
        from treaty.pipeline.erasure import ErasureRequest, erase_key
        from treaty.pipeline.run import RunEnvironment
        from treaty.pipeline.run.registry_records import record_erasure
        from treaty.pipeline.tables import TableCatalog, Tables
    opened = open_project(folder, config)
    secrets = opened.settings.secrets
    spark = spark_options(opened.settings.spark(), master, remote)
    catalog = require_table_catalog(opened.settings, spark)
    environment = RunEnvironment(
        jdbc_password=secrets.jdbc_password,
        hash_secret=secrets.hash_secret,
        schema_resolver=schema_resolver(opened.project, opened.settings),
        sinks=sink_environment(opened),
    )
    contracts = dict(opened.contracts.by_line)

    def perform(*, changes: bool) -> Erasure:
        request = ErasureRequest(contract, tuple(key), dry_run=not changes, wait=wait)
        with deferred_session(spark) as (session, progress):
            progress.start("erasing" if changes else "searching")
            tables = Tables(session, catalog, TableCatalog.from_options(spark))
            return erase_key(tables, opened.project, contracts, request, environment)

    if not dry_run and not yes:
        _confirm(perform(changes=False))  # the question comes when no progress is shown
    erasure = perform(changes=not dry_run)
    if erasure.is_found and not dry_run:
        names = [table.table for table in erasure.tables]
        problem = record_erasure(erasure.line, erasure.fields, erasure.raw_rows, names, opened.registry)
        if problem:
            typer.echo(f"warning: {printable(problem)}", err=True)
    _print(erasure, output)
    if erasure.problems:
        raise typer.Exit(ExitCode.FAILURE)


def _confirm(found: Erasure) -> None:
    """Show what would be erased, and ask."""
    from treaty.cli.render.erasure import summarize_erasure

    if found.is_found:
        typer.echo(summarize_erasure(found), err=True)
        typer.confirm("Erase it? This cannot be undone", abort=True, err=True)


def _print(erasure: Erasure, output: AnswerFormat) -> None:
    from treaty.cli.render.erasure import print_erasure

    if output is AnswerFormat.JSON:
        typer.echo(json.dumps(erasure.as_data(), ensure_ascii=False))
    else:
        print_erasure(erasure)
