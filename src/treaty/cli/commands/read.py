"""`treaty read`: rows of a table as a run published them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import ConfigOption, MasterOption, RemoteOption

if TYPE_CHECKING:
    from treaty.pipeline.tables.table_reader import Shown


class RowFormat(StrEnum):
    """How rows are printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME[@MAJOR]",
            help="A publication, product or reconciliation, such as orders, orders@1 or raw.orders.",
        ),
    ],
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="RUN|TIME",
            help="As a run left it, or as it was at a time; by default as it is.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="NAME,...", help="Which columns; by default those of the contract.", show_default=False
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome",
            metavar="OUTCOME",
            help="Rows that came out so, such as quarantined; by default those that stand.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many rows at most.")] = 20,
    output: Annotated[RowFormat, typer.Option("--format", "-f", help="How to print the rows.")] = RowFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Read rows as a run published them.

    Every answer is of one published state, and says which: the run, its contract and the snapshot.
    """
    from treaty.cli.registry_connection import needing
    from treaty.settings import load_settings

    with needing("spark"):
        from treaty.cli import data_tests
        from treaty.cli.pipeline_project import opened_tables
        from treaty.pipeline.tables.table_reader import Question, show
    settings = load_settings(config)
    spark = data_tests.spark_options(settings.spark(), master, remote)
    chosen = tuple(part.strip() for part in columns.split(",") if part.strip()) if columns else ()
    question = Question(name, as_of, chosen, outcome, limit)
    with opened_tables(settings, spark) as tables:
        shown = show(tables, question)
    _print(shown, output)


def _print(shown: Shown, output: RowFormat) -> None:
    from treaty.cli.render import rows

    printers = {RowFormat.TEXT: rows.print_text, RowFormat.JSON: rows.print_json, RowFormat.CSV: rows.print_csv}
    printers[output](shown)
