"""`treaty migrate`: the way over a breaking change: planned, proven, and followed until everybody has moved."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    PageFormat,
    PageFormatOption,
    ReasonOption,
    RegistryOption,
    TokenFileOption,
    command_group,
    day,
)
from treaty.cli.paging import PAGE, fetch, wanted

app = command_group("Plan the way over a breaking change, prove it on rows, and see who has moved.")

_CONTRACT = "A contract file, git:REF:path, -, or orders@1, orders@1.2.0 of a registry."
BeforeArgument = Annotated[str, typer.Argument(metavar="BEFORE", help=_CONTRACT)]
AfterArgument = Annotated[str, typer.Argument(metavar="AFTER", help="The same, after the change.")]
MigrationArgument = Annotated[
    int, typer.Argument(metavar="ID", min=1, help="The migration; see: treaty migrate status.")
]
ConsumerArgument = Annotated[str, typer.Argument(metavar="CONSUMER", help="Who reads the old line.")]


class State(StrEnum):
    """Where a migration stands.

    Said again here so that the command starts without loading the registry; a test holds the two together.
    """

    PROPOSED = "proposed"
    OPEN = "open"
    CLOSED = "closed"
    WITHDRAWN = "withdrawn"


@app.command("plan")
def plan(
    before: BeforeArgument,
    after: AfterArgument,
    consumer: Annotated[
        str | None, typer.Option("--consumer", metavar="NAME", help="Only this one's guide.", show_default=False)
    ] = None,
    consumers: Annotated[
        Path | None,
        typer.Option("--consumers", metavar="FILE", help="Who reads it, where no registry says.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write views and guides here.", show_default=False),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: PageFormatOption = PageFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show the way over between two versions.

    How each shape is made from the other's rows, field by field: exact, lossy or impossible, and why; the view that
    serves the old shape from the new line; and a guide for each consumer with only the fields it reads.
    """
    from treaty.cli.migrations import Where, contracts_of, planned
    from treaty.cli.render.migration_markdown import print_plan
    from treaty.settings import load_settings

    where = Where(registry, token_file, load_settings(config))
    old, new = contracts_of(before, after, where)
    made = planned(old, new, where, consumers, consumer)
    print_plan(made, output, folder)
    if made.is_blocked:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("prove")
def prove(
    before: BeforeArgument,
    after: AfterArgument,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DATA", help="Rows of the new line; else they are made.", show_default=False),
    ] = None,
    old_data: Annotated[
        str | None,
        typer.Option(
            "--old-data", metavar="DATA", help="Rows of the old line; else they are made.", show_default=False
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, max=1_000_000, help="How many rows to make.")] = 500,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the proof with the migration in the registry.")
    ] = False,
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="URL", help="Where Spark runs; by default as set.", show_default=False),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Run the shims on rows, and see whether they keep their word.

    Rows of each line are served in the shape of the other, held to its contract, and sent back. What is called exact
    must come back as it went; what is lossy is counted. Rows are given, or made from the contract.
    """
    from treaty.cli.migrations import Where, contracts_of, path_between
    from treaty.cli.registry_connection import needing
    from treaty.cli.render.migration_markdown import print_proof
    from treaty.settings import load_settings

    with needing("spark"):
        from treaty.cli.data_tests import spark_options
        from treaty.cli.migration_proofs import ProofAsked, run_proof
    settings = load_settings(config)
    where = Where(registry, token_file, settings)
    old, new = contracts_of(before, after, where)
    asked = ProofAsked(data, old_data, rows, spark_options(settings.spark(), master, remote), settings)
    proof = run_proof(path_between(old, new), asked)
    print_proof(proof, output)
    if record:
        from treaty.cli.migrations import record_proof

        typer.echo(record_proof(proof, where), err=True)
    if not proof.holds:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("status")
def status(
    migration: Annotated[
        int | None, typer.Argument(metavar="[ID]", min=1, help="The board of one migration.", show_default=False)
    ] = None,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only those of this contract.", show_default=False)
    ] = None,
    state: Annotated[
        State | None, typer.Option("--state", help="Only those that stand so.", show_default=False)
    ] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List migrations, or show where everybody stands in one."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.migration_status import draw_board, draw_migrations
    from treaty.cli.render.output import print_answer, print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        if migration is not None:
            print_answer(it.migrations.get(migration), output, draw_board)
            return
        page = fetch(
            lambda at, most: it.migrations.list(
                contract=contract, state=state.value if state else None, cursor=at, limit=most
            ),
            part,
        )
    print_page(page, output, draw_migrations, "no migration")


@app.command("acknowledge")
def acknowledge(
    migration: MigrationArgument,
    consumer: ConsumerArgument,
    note: Annotated[
        str | None, typer.Option("--note", help="What the consumer has to say to it.", show_default=False)
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Say that a consumer knows of the change.

    A breaking change waits for the word of the critical consumers it hits; the last one lets it in.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.migration_status import draw_board
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        print_answer(it.migrations.acknowledge(migration, consumer, note=note), output, draw_board)


@app.command("move")
def move(
    migration: MigrationArgument,
    consumer: ConsumerArgument,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="FIELD", help="What it reads of the new line; else what its fields became."),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Let a consumer read the new line instead of the old one."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.migration_status import draw_board
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        print_answer(it.migrations.move(migration, consumer, fields=field or None), output, draw_board)


@app.command("waive")
def waive(
    migration: MigrationArgument,
    consumer: ConsumerArgument,
    reason: ReasonOption,
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="The last day on which it holds.")],
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Go on without a consumer, for a reason, until a day."""
    from datetime import date

    from treaty.cli.registry_connection import opened
    from treaty.cli.render.migration_status import draw_board
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    ends = day(until, "--until") or date.max
    with opened(registry, token_file, load_settings(config)) as it:
        print_answer(it.migrations.waive(migration, consumer, reason=reason, until=ends), output, draw_board)
