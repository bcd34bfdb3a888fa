"""`treaty parallel`: compare a legacy feed with the publication that replaces it, and manage the differences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    MasterOption,
    RemoteOption,
    TokenFileOption,
    command_group,
    parse_date,
)
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Compare legacy feeds with the publications that replace them.")

FeedArgument = Annotated[str, typer.Argument(metavar="FEED", help="The name of the legacy feed.")]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="The last day to compare, or the day of a run.", show_default=False),
]
LastDayOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="The last day to compare. Default: yesterday.", show_default=False),
]


class Disposition(StrEnum):
    """What a finding turned out to be; a copy of `treaty.legacy.differences.Disposition`, which a test keeps equal."""

    DEFECT_IN_NEW = "defect_in_new"
    DEFECT_IN_LEGACY = "defect_in_legacy"
    SEMANTIC_DISAGREEMENT = "semantic_disagreement"
    ACCEPTED = "accepted"


class ReportFormat(StrEnum):
    """How a report is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


@app.command("run")
def run(
    feed: FeedArgument,
    folder: Annotated[Path, typer.Option("--project", metavar="FOLDER", help="The folder of the project.")] = Path(),
    as_of: LastDayOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Compare all rows up to a day, classify every difference, and record the findings in the registry.

    The exit code is 3 if there are findings about which nothing is decided.
    """
    from treaty.cli.parallel_run import run_parallel
    from treaty.cli.render.output import print_answer
    from treaty.cli.render.parallel_runs import render_run

    day = parse_date(as_of, "--as-of") or datetime.now(UTC).date() - timedelta(days=1)
    answer = run_parallel(feed, folder, day, master, remote, token_file, config)
    print_answer(answer, output, render_run)
    if not answer.clean:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("draft")
def draft(
    feed: FeedArgument,
    folder: Annotated[Path, typer.Option("--project", metavar="FOLDER", help="The folder of the project.")] = Path(),
    contract_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The id of the contract. Default: the name of the feed."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write.", show_default=False),
    ] = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    config: ConfigOption = None,
) -> None:
    """Draft a contract with the shape of a legacy feed, inferred from its rows."""
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.cli.data_tests import check_writable
        from treaty.cli.legacy_draft import draft_feed
        from treaty.cli.render.draft import print_advice
    check_writable(file)
    drafted = draft_feed(feed, folder, contract_id, master, remote, config)
    if file is None:
        typer.echo(drafted.text, nl=False)
    else:
        file.write_text(drafted.text, encoding="utf-8")
        typer.echo(f"wrote {file}", err=True)
    print_advice(drafted.inferred, drafted.data, file)


@app.command("list")
@with_shared_options
def list_runs(
    page: PageRequest,
    call: RegistryCall,
    feed: Annotated[str | None, typer.Option("--feed", help="Only of this feed.", show_default=False)] = None,
) -> None:
    """List parallel runs, by feed, the newest day first."""
    from treaty.cli.render.parallel_runs import render_runs

    with call.open() as registry:
        runs = page.fetch(lambda cursor, limit: registry.parallel_runs.list(feed=feed, cursor=cursor, limit=limit))
    call.print_page(runs, render_runs, "no parallel runs; start with: treaty parallel run FEED")


@app.command("report")
@with_shared_options
def report(
    feed: FeedArgument,
    call: RegistryCall,
    as_of: AsOfOption = None,
    as_: Annotated[
        ReportFormat | None,
        typer.Option(
            "--as", help="The form of the report; --format json is the same as --as json.", show_default=False
        ),
    ] = None,
) -> None:
    """Show the findings of a run, new ones first, with what was decided about them."""
    from treaty.cli.render.parallel_runs import render_run
    from treaty.registry.variance_report import write_csv, write_markdown

    with call.open() as registry:
        answer = registry.parallel_runs.get(feed, as_of=parse_date(as_of, "--as-of"))
    if as_ is ReportFormat.MARKDOWN:
        typer.echo(write_markdown(answer), nl=False)
    elif as_ is ReportFormat.CSV:
        typer.echo(write_csv(answer), nl=False)
    elif as_ is ReportFormat.JSON:
        from treaty.cli.render.output import print_data

        print_data(answer.model_dump(mode="json"))
    else:
        call.print_answer(answer, render_run)


@app.command("dispose")
@with_shared_options
def dispose(
    feed: FeedArgument,
    finding: Annotated[str, typer.Argument(metavar="FINDING", help="The id of the finding; see the report.")],
    disposition: Annotated[Disposition, typer.Option("--as", help="What the finding turned out to be.")],
    owner: Annotated[str, typer.Option("--owner", help="Who is responsible for it.")],
    reason: Annotated[str, typer.Option("--reason", help="Why.")],
    call: RegistryCall,
    term: Annotated[
        str | None,
        typer.Option("--term", help="The term of the contract that settles a disagreement.", show_default=False),
    ] = None,
) -> None:
    """Decide about a finding. The decision holds as long as later runs find the same pattern."""
    from treaty.cli.render.parallel_runs import render_finding

    with call.open() as registry:
        answer = registry.parallel_runs.dispose(
            feed, finding, disposition=disposition.value, owner=owner, reason=reason, term=term
        )
    call.print_answer(answer, render_finding)
