"""`treaty read`: rows of a table as a run published them, as text, JSON or CSV."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import ConfigOption, MasterOption, RemoteOption

if TYPE_CHECKING:
    from treaty.pipeline.tables.table_reader import TableRows


class RowFormat(StrEnum):
    """Formats of rows."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


def read(
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
            help="The state after a run, or at a time. Default: the current state.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAME,...",
            help="The columns to show. Default: those of the contract.",
            show_default=False,
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome",
            metavar="OUTCOME",
            help="Rows with this outcome, such as quarantined. Default: valid rows.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="Maximum number of rows.")] = 20,
    output: Annotated[RowFormat, typer.Option("--format", "-f", help="Output format.")] = RowFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Read published rows.

    The rows come from one published state; the output names its run, contract version and snapshot.
    """
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_tables
        from treaty.cli.spark_session import spark_options
        from treaty.pipeline.tables.table_reader import ReadRequest, read_table
    settings = load_settings(config)
    spark = spark_options(settings.spark(), master, remote)
    chosen = tuple(part.strip() for part in columns.split(",") if part.strip()) if columns else ()
    question = ReadRequest(name, as_of, chosen, outcome, limit)
    with open_tables(settings, spark) as tables:
        result = read_table(tables, question)
    _print(result, output)


def _print(result: TableRows, output: RowFormat) -> None:
    from treaty.cli.render import rows

    printers = {RowFormat.TEXT: rows.print_text, RowFormat.JSON: rows.print_json, RowFormat.CSV: rows.print_csv}
    printers[output](result)
