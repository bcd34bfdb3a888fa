"""`treaty migrate`: plan a breaking change, prove its migration on data, and track its consumers."""

from __future__ import annotations

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
    PageFormat,
    PageFormatOption,
    ReasonOption,
    RegistryOption,
    RemoteOption,
    TokenFileOption,
    command_group,
    parse_date,
)
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Plan, prove and track the move to a new line.")

_CONTRACT = "A contract file, git:REF:path, -, or orders@1 or orders@1.2.0 in a registry."
BeforeArgument = Annotated[str, typer.Argument(metavar="BEFORE", help=_CONTRACT)]
AfterArgument = Annotated[str, typer.Argument(metavar="AFTER", help="The same contract after the change.")]
MigrationArgument = Annotated[
    int, typer.Argument(metavar="ID", min=1, help="The number of the migration; see `treaty migrate status`.")
]
ConsumerArgument = Annotated[str, typer.Argument(metavar="CONSUMER", help="A consumer of the old line.")]


class MigrationState(StrEnum):
    """The states of a migration.

    A copy of the states of the registry, so that the command starts without importing it; a test keeps the two equal.
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
        str | None,
        typer.Option("--consumer", metavar="NAME", help="Only the guide of this consumer.", show_default=False),
    ] = None,
    consumers: Annotated[
        Path | None,
        typer.Option(
            "--consumers", metavar="FILE", help="A file with subscriptions, instead of a registry.", show_default=False
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Write views and guides to this folder.", show_default=False
        ),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: PageFormatOption = PageFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show the migration path between two versions.

    For each field: how it is computed from the rows of the other version, whether that is exact, lossy or impossible,
    and why. Also prints the view that serves the old schema from the new line, and a guide for each consumer.
    """
    from treaty.cli.migrations import RegistryLocation, build_plan, load_versions
    from treaty.cli.render.migration_markdown import print_plan
    from treaty.settings import load_settings

    location = RegistryLocation(registry, token_file, load_settings(config))
    old, new = load_versions(before, after, location)
    migration_plan = build_plan(old, new, location, consumers, consumer)
    print_plan(migration_plan, output, folder)
    if migration_plan.is_blocked:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("prove")
def prove(
    before: BeforeArgument,
    after: AfterArgument,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DATA", help="Rows of the new line. Default: generated rows.", show_default=False
        ),
    ] = None,
    old_data: Annotated[
        str | None,
        typer.Option(
            "--old-data", metavar="DATA", help="Rows of the old line. Default: generated rows.", show_default=False
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, max=1_000_000, help="The number of generated rows.")] = 500,
    record: Annotated[
        bool, typer.Option("--record", help="Store the proof with the migration in the registry.")
    ] = False,
    master: MasterOption = None,
    remote: RemoteOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Prove a migration path on data.

    Converts rows of each line to the other, tests them against its contract, and converts them back. Exact fields must
    return unchanged; differences in lossy fields are counted. Rows are given, or generated from the contracts.
    """
    from treaty.cli.migrations import RegistryLocation, load_versions, path_between
    from treaty.cli.registry_connection import requires_extra
    from treaty.cli.render.migration_markdown import print_proof
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.cli.migrations import ProofRequest, run_proof
        from treaty.cli.spark_session import spark_options
    settings = load_settings(config)
    location = RegistryLocation(registry, token_file, settings)
    old, new = load_versions(before, after, location)
    request = ProofRequest(data, old_data, rows, spark_options(settings.spark(), master, remote), settings)
    proof = run_proof(path_between(old, new), request)
    print_proof(proof, output)
    if record:
        from treaty.cli.migrations import record_proof

        typer.echo(record_proof(proof, location), err=True)
    if not proof.holds:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("status")
@with_shared_options
def status(
    page: PageRequest,
    call: RegistryCall,
    migration: Annotated[
        int | None, typer.Argument(metavar="[ID]", min=1, help="Show this migration.", show_default=False)
    ] = None,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only migrations of this contract.", show_default=False)
    ] = None,
    state: Annotated[
        MigrationState | None, typer.Option("--state", help="Only migrations in this state.", show_default=False)
    ] = None,
) -> None:
    """List migrations, or show the progress of one."""
    from treaty.cli.render.migrations import render_migration, render_migrations

    with call.open() as registry:
        if migration is not None:
            call.print_answer(registry.migrations.get(migration), render_migration)
            return
        migrations = page.fetch(
            lambda cursor, limit: registry.migrations.list(
                contract=contract, state=state.value if state else None, cursor=cursor, limit=limit
            )
        )
    call.print_page(migrations, render_migrations, "no migrations")


@app.command("acknowledge")
@with_shared_options
def acknowledge(
    migration: MigrationArgument,
    consumer: ConsumerArgument,
    call: RegistryCall,
    note: Annotated[str | None, typer.Option("--note", help="A remark of the consumer.", show_default=False)] = None,
) -> None:
    """Acknowledge a breaking change on behalf of a consumer.

    A breaking change waits for the critical consumers that it affects; the last acknowledgement registers it.
    """
    from treaty.cli.render.migrations import render_migration

    with call.open() as registry:
        answer = registry.migrations.acknowledge(migration, consumer, note=note)
    call.print_answer(answer, render_migration)


@app.command("move")
@with_shared_options
def move(
    migration: MigrationArgument,
    consumer: ConsumerArgument,
    call: RegistryCall,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="FIELD",
            help="A field that it reads in the new line. Repeatable. Default: what its old fields became.",
        ),
    ] = None,
) -> None:
    """Move a consumer from the old line to the new one."""
    from treaty.cli.render.migrations import render_migration

    with call.open() as registry:
        answer = registry.migrations.move(migration, consumer, fields=field or None)
    call.print_answer(answer, render_migration)


@app.command("waive")
@with_shared_options
def waive(
    migration: MigrationArgument,
    consumer: ConsumerArgument,
    reason: ReasonOption,
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="The last day on which the waiver applies.")],
    call: RegistryCall,
) -> None:
    """Continue without waiting for a consumer, for a reason, until a date."""
    from datetime import date

    from treaty.cli.render.migrations import render_migration

    last_day = parse_date(until, "--until") or date.max
    with call.open() as registry:
        answer = registry.migrations.waive(migration, consumer, reason=reason, until=last_day)
    call.print_answer(answer, render_migration)
