"""`treaty map`: who reads what today, from subscriptions, lineage events, and scans of SQL, jobs and query logs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.commands.consumer import ConsumerArgument, ConsumerClass
from treaty.cli.options import AllOption, ConfigOption, CursorOption, LimitOption, RegistryOption, TokenFileOption
from treaty.cli.registry_connection import IfMissing
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = typer.Typer(
    help="Show who reads what, critical consumers that read directly first; scan files for readers.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)
_EMPTY_MAP = "the map is empty; scan files with: treaty map scan PATH"


class MapFormat(StrEnum):
    """How the map is printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@app.callback()
def show_map(
    context: typer.Context,
    consumer: Annotated[str | None, typer.Option("--consumer", help="Only this consumer.", show_default=False)] = None,
    team: Annotated[str | None, typer.Option("--team", help="Only consumers of this team.", show_default=False)] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Only readers of this line or table.", show_default=False)
    ] = None,
    direct: Annotated[
        bool, typer.Option("--direct", help="Only those that read raw data, products or legacy feeds directly.")
    ] = False,
    output: Annotated[MapFormat, typer.Option("--format", "-f", help="Output format.")] = MapFormat.TEXT,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Show who reads what, critical consumers that read directly first; scan files for readers."""
    if context.invoked_subcommand is not None:
        return
    from treaty.cli.options import AnswerFormat
    from treaty.cli.render.dependency_map import render_map
    from treaty.registry.dependency_map_csv import write_map_csv

    call = RegistryCall(
        registry, token_file, AnswerFormat.JSON if output is MapFormat.JSON else AnswerFormat.TEXT, config
    )
    page = PageRequest(limit, cursor, everything or (output is MapFormat.CSV and cursor is None))
    with call.open() as opened:
        entries = page.fetch(
            lambda start, size: opened.dependency_map.entries(
                consumer=consumer, team=team, source=source, direct=direct or None, cursor=start, limit=size
            )
        )
    if output is MapFormat.CSV:
        typer.echo(write_map_csv(entries.items), nl=False)
    else:
        is_filtered = direct or any(part is not None for part in (consumer, team, source))
        empty = "no consumer in the map matches; list all with: treaty map" if is_filtered else _EMPTY_MAP
        call.print_page(entries, render_map, empty)


@app.command("scan")
@with_shared_options
def scan(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Files or folders with SQL, Python jobs, notebooks, dbt manifests or query logs."
        ),
    ],
    call: RegistryCall,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            help="The name of the scan, by default that of the first path. A scan replaces the last one of its name.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is found, and store nothing.")] = False,
) -> None:
    """Find who reads which tables and columns, and add it to the map of the registry."""
    from treaty.cli.map_scan import scan_paths
    from treaty.cli.render.dependency_map import print_scan

    found = scan_paths(paths)
    receipt = None
    if not dry_run:
        with call.open(IfMissing.CREATE) as registry:
            receipt = registry.dependency_map.record_scan(name or paths[0].resolve().name, found.reads)
    print_scan(found, receipt, call.output)


@app.command("duplicates")
@with_shared_options
def duplicates(page: PageRequest, call: RegistryCall) -> None:
    """List publications and edge contracts that are nearly the same, by schema and lineage, the most similar first."""
    from treaty.cli.render.dependency_map import render_duplicates

    with call.open() as registry:
        pairs = page.fetch(lambda cursor, limit: registry.dependency_map.near_duplicates(cursor=cursor, limit=limit))
    call.print_page(pairs, render_duplicates, "no publications are nearly the same")


@app.command("describe")
@with_shared_options
def describe(
    consumer: ConsumerArgument,
    call: RegistryCall,
    consumer_class: Annotated[
        ConsumerClass | None, typer.Option("--class", help="What the consumer uses the data for.", show_default=False)
    ] = None,
    latency: Annotated[
        str | None, typer.Option("--latency", help="How soon it needs the data, such as 1d.", show_default=False)
    ] = None,
    decision: Annotated[
        str | None, typer.Option("--decision", help="The decision that it serves.", show_default=False)
    ] = None,
    team: Annotated[str | None, typer.Option("--team", help="The team that owns it.", show_default=False)] = None,
) -> None:
    """Describe a consumer; this takes precedence over what scans guess."""
    from treaty.cli.render.dependency_map import render_profile

    if consumer_class is None and latency is None and decision is None and team is None:
        raise typer.BadParameter("give --class, --latency, --decision or --team")
    with call.open() as registry:
        profile = registry.dependency_map.describe_consumer(
            consumer,
            consumer_class=consumer_class.value if consumer_class else None,
            latency=latency,
            decision=decision,
            team=team,
        )
    call.print_answer(profile, render_profile)
