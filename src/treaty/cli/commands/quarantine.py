"""`treaty quarantine`: rows that were set apart, why, and judging them again."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    MasterOption,
    RemoteOption,
    WaitOption,
    command_group,
)

if TYPE_CHECKING:
    from treaty.pipeline.quarantine import Quarantine
    from treaty.pipeline.tables.table_catalog import TableCatalog
    from treaty.settings import Settings

app = command_group("Read quarantined rows, export them, and judge them again.")

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FOLDER", help="A source of the pipeline, or a folder that treaty test --quarantine wrote."
    ),
]
RuleOption = Annotated[
    str | None,
    typer.Option("--rule", metavar="RULE", help="Only rows that violate this rule.", show_default=False),
]


class ExportFormat(StrEnum):
    """Formats of exported rows."""

    CSV = "csv"
    JSON_LINES = "jsonl"


@app.command("list")
def list_reasons(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FOLDER]",
            help="A source of the pipeline, or a folder. Default: all sources.",
            show_default=False,
        ),
    ] = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Count quarantined rows by reason."""
    from treaty.cli.render.quarantine import print_counts
    from treaty.pipeline.quarantine.quarantined_rows import count_reasons

    counted = [(one.name, *count_reasons(one.violations())) for one in _open_all(name, config)]
    if output is AnswerFormat.JSON:
        data = [
            {"name": one, "rows": rows, "reasons": [vars(reason) for reason in reasons]}
            for one, rows, reasons in counted
        ]
        typer.echo(json.dumps(data, ensure_ascii=False))
        return
    print_counts(counted)


@app.command("show")
def show(
    name: NameArgument,
    rule: RuleOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="Maximum number of rows.")] = 10,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show quarantined rows as they came, with the offending cells marked and the reasons."""
    show_rows(name, rule, limit, output, config)


def show_rows(name: str, rule: str | None, limit: int, output: AnswerFormat, config: Path | None) -> None:
    """Print quarantined rows; `treaty read --outcome quarantined` prints the same."""
    from treaty.cli.render.quarantine import print_rows
    from treaty.cli.source_lines import locate_lines

    quarantine = _open(name, config)
    rows = locate_lines(quarantine.rows(limit + 1, rule))
    if output is AnswerFormat.JSON:
        typer.echo(json.dumps([row.as_data() for row in rows[:limit]], ensure_ascii=False))
        return
    print_rows(quarantine.name, rows[:limit], is_complete=len(rows) <= limit)


@app.command("export")
def export(
    name: NameArgument,
    rule: RuleOption = None,
    output: Annotated[ExportFormat, typer.Option("--format", "-f", help="Output format.")] = ExportFormat.CSV,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write. Default: standard output.", show_default=False
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Export quarantined rows with their reasons, to correct and deliver them again."""
    from treaty.cli.render.quarantine import render_csv, render_json_lines
    from treaty.cli.source_lines import locate_lines
    from treaty.errors import Unavailable

    rows = locate_lines(_open(name, config).rows(None, rule))
    text = (render_csv if output is ExportFormat.CSV else render_json_lines)(rows)
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
    typer.echo(f"wrote {len(rows):,} rows to {file}", err=True)


@app.command("retry")
def retry(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A source of the pipeline.")],
    folder: Annotated[Path, typer.Option("--project", metavar="FOLDER", help="The project folder.")] = Path(),
    wait: WaitOption = 0.0,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Judge the quarantined rows of a source again, after its contract or declaration was corrected.

    All raw rows of the source are judged again in one run, and everything downstream follows, as in a replay.
    """
    from treaty.cli.commands.run import PipelineCall, run_and_print
    from treaty.cli.pipeline_project import open_project
    from treaty.cli.render.quarantine import describe_retry
    from treaty.pipeline.quarantine import EventQuarantine
    from treaty.pipeline.run import RunOptions

    quarantine = EventQuarantine.find(_catalog_of(open_project(folder, config).settings), name)
    before = quarantine.pointers()
    if not before:
        typer.echo(f"{quarantine.name} has no quarantined rows", err=True)
        return
    options = RunOptions((f"{quarantine.name}+",), rejudge=True, from_raw=True, wait=wait)
    try:
        run_and_print(PipelineCall(folder, config, master, remote, output), options)
    finally:
        typer.echo(describe_retry(quarantine.name, before, quarantine.pointers()), err=True)


def _open_all(name: str | None, config: Path | None) -> list[Quarantine]:
    if name is not None:
        return [_open(name, config)]
    from treaty.pipeline.quarantine import EventQuarantine
    from treaty.pipeline.quarantine.event_quarantine import list_sources

    catalog = _open_catalog(config)
    return [EventQuarantine(catalog, source) for source in list_sources(catalog)]


def _open(name: str, config: Path | None) -> Quarantine:
    """Open the folder of that name if there is one, else the source of the pipeline."""
    from treaty.cli.registry_connection import requires_extra
    from treaty.errors import NotFound
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.pipeline.quarantine import EventQuarantine, FolderQuarantine
    if "/" in name or Path(name).exists():
        return FolderQuarantine(Path(name))
    settings = load_settings(config)
    if settings.spark().catalog is None:
        file = settings.source or "treaty.yaml"
        raise NotFound(f"there is no folder {name}, and {file} has no table catalog with a source of this name")
    return EventQuarantine.find(_catalog_of(settings), name)


def _open_catalog(config: Path | None) -> TableCatalog:
    from treaty.settings import load_settings

    return _catalog_of(load_settings(config))


def _catalog_of(settings: Settings) -> TableCatalog:
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_catalog
    return open_catalog(settings)
