"""`treaty read`: rows of a table as a run published them, as text, JSON or CSV."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import ConfigOption

if TYPE_CHECKING:
    from treaty.pipeline.tables import TableCatalog
    from treaty.pipeline.tables.table_reader import ReadRequest, SparkTables, TableRows
    from treaty.settings import Settings


QUARANTINED = "quarantined"


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
    consumer: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="CONSUMER",
            help="Read a publication as this consumer may: its fields, masked for its purpose.",
            show_default=False,
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            "--region",
            metavar="REGION",
            help="With --for, the region in which the rows are served. Default: none.",
            show_default=False,
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Read published rows.

    The rows come from one published state; the output names its run, contract version and snapshot. Spark is started
    only for a view, which it has to compute. With --for, the subscription and the policies come from the registry.
    """
    if consumer is not None and outcome is not None:
        raise typer.BadParameter("--outcome is about rows of products; use it without --for")
    if region is not None and consumer is None:
        raise typer.BadParameter("--region is a part of what a consumer may read; add --for CONSUMER")
    from treaty.cli.registry_connection import requires_extra
    from treaty.cli.render.plain_text import printable
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_catalog, open_tables
        from treaty.cli.spark_session import spark_options
        from treaty.pipeline.tables.table_reader import ReadRequest, read_table
    settings = load_settings(config)
    chosen = tuple(part.strip() for part in columns.split(",") if part.strip()) if columns else ()
    question = ReadRequest(name, as_of, chosen, outcome, limit)
    spark = spark_options(settings.spark(), None, None)
    catalog = open_catalog(settings)
    if consumer is None:
        result = read_table(catalog, question, lambda: open_tables(settings, spark))
    else:
        result = _read_for(consumer, region, question, catalog, settings, lambda: open_tables(settings, spark))
    if foreign := catalog.foreign_write(result.table):
        typer.echo(f"warning: {printable(foreign)}", err=True)
    is_event_quarantine = outcome == QUARANTINED and result.table.startswith("events.")
    if is_event_quarantine and output is RowFormat.TEXT and not (as_of or columns):
        _print_quarantined(catalog, result, limit)
        return
    _print(result, output)


def _read_for(
    consumer: str,
    region: str | None,
    question: ReadRequest,
    catalog: TableCatalog,
    settings: Settings,
    open_on_spark: SparkTables,
) -> TableRows:
    """Read as a consumer may; its subscription, the contract and the policies are those of the registry."""
    from datetime import UTC, datetime
    from functools import partial

    from treaty.cli.registry_connection import open_registry
    from treaty.pipeline.tables.consumer_reader import ConsumerRequest, read_for_consumer
    from treaty.policy.key_files import key_finder
    from treaty.registry.consumer_views import find_view_to_read

    with open_registry(None, None, settings) as registry:
        find_view = partial(find_view_to_read, registry, consumer=consumer, region=region)
        request = ConsumerRequest(question, find_view, key_finder(), datetime.now(UTC))
        found = read_for_consumer(catalog, request, open_on_spark)
        registry.lineage.report_accesses([found.access])
        return found.rows


def _print_quarantined(catalog: TableCatalog, result: TableRows, limit: int) -> None:
    """Print quarantined events with their raw rows, as `treaty quarantine show` does; the events have no values."""
    from treaty.cli.render.quarantine import print_rows
    from treaty.pipeline.quarantine import EventQuarantine

    quarantine = EventQuarantine.find(catalog, result.table)
    print_rows(quarantine.name, list(quarantine.rows(limit)), is_complete=result.is_complete)


def _print(result: TableRows, output: RowFormat) -> None:
    from treaty.cli.render import rows

    printers = {RowFormat.TEXT: rows.print_text, RowFormat.JSON: rows.print_json, RowFormat.CSV: rows.print_csv}
    printers[output](result)
