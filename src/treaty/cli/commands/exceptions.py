"""`treaty exceptions`: keys that a reconciliation could not resolve, and who owns them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    MasterOption,
    RemoteOption,
    command_group,
)
from treaty.cli.shared_options import PageRequest, with_shared_options

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import timedelta
    from pathlib import Path

    from treaty.pipeline.tables import Tables

app = command_group("List and accept exceptions of reconciliations.")


class ExceptionState(StrEnum):
    """The states of an exception.

    A copy of the states of the pipeline, so that the command starts without importing Spark; a test keeps the two
    equal.
    """

    OPEN = "open"
    RESOLVED = "resolved"
    ACCEPTED = "accepted"
    ANY = "any"


class ReasonClass(StrEnum):
    """The classes of reasons; a copy of those of the pipeline, like the states."""

    MISSING = "missing"
    CONFLICT = "conflict"
    LATE = "late"
    DUPLICATE = "duplicate"
    IDENTITY = "identity"


KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="The key; separate the values of several fields with commas.")
]
ReconciliationOption = Annotated[
    str | None,
    typer.Option(
        "--reconciliation", metavar="NAME", help="Only exceptions of this reconciliation.", show_default=False
    ),
]


@app.command("list")
@with_shared_options
def list_exceptions(
    page: PageRequest,
    reconciliation: ReconciliationOption = None,
    state: Annotated[
        ExceptionState, typer.Option("--state", help="Only exceptions in this state.")
    ] = ExceptionState.OPEN,
    reason_class: Annotated[
        ReasonClass | None, typer.Option("--class", help="Only exceptions of this class.", show_default=False)
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", help="Only exceptions of this owner.", show_default=False)
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="TIME", help="Only exceptions older than this, such as 7d.", show_default=False
        ),
    ] = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List exceptions, oldest first."""
    from datetime import UTC, datetime

    from treaty.cli.registry_connection import requires_extra
    from treaty.cli.render.exceptions import render_exceptions
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    age = _parse_age(older_than)
    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_catalog
        from treaty.pipeline.exceptions import ExceptionFilter, list_exceptions
    filters = ExceptionFilter(
        reconciliation,
        None if state is ExceptionState.ANY else state.value,
        reason_class and reason_class.value,
        owner,
        age,
    )
    catalog, now = open_catalog(load_settings(config)), datetime.now(UTC)
    exceptions = page.fetch(lambda cursor, limit: list_exceptions(catalog, filters, now, cursor=cursor, limit=limit))
    print_page(exceptions, output, render_exceptions, "no exceptions")


@app.command("show")
def show(
    key: KeyArgument,
    reconciliation: ReconciliationOption = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show the exceptions of a key: its claims side by side, its history and the next steps."""
    from datetime import UTC, datetime

    from treaty.cli.render.exceptions import render_keys
    from treaty.cli.render.output import print_list

    with _open_tables(config, master, remote) as tables:
        from treaty.pipeline.exceptions import exceptions_of_key

        answers = exceptions_of_key(tables, key, datetime.now(UTC), reconciliation)
    print_list(answers, output, render_keys)


@app.command("accept")
def accept_exception(
    key: KeyArgument,
    assertion: Annotated[str, typer.Option("--assertion", metavar="NAME", help="The assertion that failed.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it is acceptable.")],
    reconciliation: ReconciliationOption = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Accept an exception, so that its key is resolved.

    The value of the claim with the highest authority is used until one of the claims changes.
    """
    from datetime import UTC, datetime

    from treaty.cli.registry_connection import actor_name
    from treaty.cli.render.exceptions import render_acceptance
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    actor = actor_name(load_settings(config))
    with _open_tables(config, master, remote) as tables:
        from treaty.pipeline.exceptions import accept_exception

        answer = accept_exception(
            tables,
            key,
            assertion,
            reason=reason,
            actor=actor,
            now=datetime.now(UTC),
            reconciliation=reconciliation,
        )
    print_answer(answer, output, render_acceptance)


def _open_tables(config: Path | None, master: str | None, remote: str | None) -> AbstractContextManager[Tables]:
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import open_tables
        from treaty.cli.spark_session import spark_options
    settings = load_settings(config)
    return open_tables(settings, spark_options(settings.spark(), master, remote))


def _parse_age(text: str | None) -> timedelta | None:
    from datetime import timedelta

    from treaty.contracts.quantities import parse_seconds

    if text is None:
        return None
    age = parse_seconds(text)
    if age is None or age < 0 or age > timedelta.max.total_seconds():
        raise typer.BadParameter(f"{text!r} is not a duration; write it like 12h or 7d", param_hint="--older-than")
    return timedelta(seconds=float(age))
