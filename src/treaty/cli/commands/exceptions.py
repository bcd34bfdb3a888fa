"""`treaty exceptions`: what reconciliations could not settle, and whose it is."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    command_group,
)
from treaty.cli.paging import PAGE, fetch, wanted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import timedelta
    from pathlib import Path

    from treaty.pipeline.tables import Tables

app = command_group("See what reconciliations could not settle, and accept what may stand.")


class State(StrEnum):
    """How an exception stands.

    Said again here so that the command starts without loading Spark; a test holds the two together.
    """

    OPEN = "open"
    RESOLVED = "resolved"
    ACCEPTED = "accepted"
    ANY = "any"


class ReasonClass(StrEnum):
    """Why something is not settled; said again here like the states."""

    MISSING = "missing"
    CONFLICT = "conflict"
    LATE = "late"
    DUPLICATE = "duplicate"
    IDENTITY = "identity"


KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="The key; where it has several fields, their values with commas between.")
]
ReconciliationOption = Annotated[
    str | None,
    typer.Option("--reconciliation", metavar="NAME", help="Only of this reconciliation.", show_default=False),
]
MasterOption = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Where Spark runs; by default as set, local[*].", show_default=False),
]
RemoteOption = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
]


@app.command("list")
def list_exceptions(
    reconciliation: ReconciliationOption = None,
    state: Annotated[State, typer.Option("--state", help="Only those that stand like this.")] = State.OPEN,
    reason_class: Annotated[
        ReasonClass | None, typer.Option("--class", help="Only of this class.", show_default=False)
    ] = None,
    owner: Annotated[str | None, typer.Option("--owner", help="Only of this owner.", show_default=False)] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="TIME", help="Only those first seen longer ago, such as 7d.", show_default=False
        ),
    ] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    master: MasterOption = None,
    remote: RemoteOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List exceptions, the oldest first."""
    from datetime import UTC, datetime

    from treaty.cli.render.exceptions import draw_exceptions
    from treaty.cli.render.output import print_page

    part, age = wanted(limit, cursor, everything), _age(older_than)
    with _tables(config, master, remote) as tables:
        from treaty.pipeline.exceptions import Wanted, listed

        asked = Wanted(
            reconciliation,
            None if state is State.ANY else state.value,
            reason_class and reason_class.value,
            owner,
            age,
        )
        now = datetime.now(UTC)
        page = fetch(lambda at, most: listed(tables, asked, now, cursor=at, limit=most), part)
    print_page(page, output, draw_exceptions, "nothing is in doubt")


@app.command("show")
def show(
    key: KeyArgument,
    reconciliation: ReconciliationOption = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show all that is, or was, in doubt about a key: claims side by side, history, what to do next."""
    from datetime import UTC, datetime

    from treaty.cli.render.exceptions import draw_keys
    from treaty.cli.render.output import print_answers

    with _tables(config, master, remote) as tables:
        from treaty.pipeline.exceptions import of_key

        answers = of_key(tables, key, datetime.now(UTC), reconciliation)
    print_answers(answers, output, draw_keys)


@app.command("accept")
def accept_exception(
    key: KeyArgument,
    assertion: Annotated[str, typer.Option("--assertion", metavar="NAME", help="What is in doubt about it.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it may stand.")],
    reconciliation: ReconciliationOption = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Let a key resolve although an exception stands.

    The value of the first claim of authority holds then, for as long as the claims stay as they are.
    """
    from datetime import UTC, datetime

    from treaty.cli.registry_connection import actor_of
    from treaty.cli.render.exceptions import draw_accepted
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    actor = actor_of(load_settings(config))
    with _tables(config, master, remote) as tables:
        from treaty.pipeline.exceptions import accept

        answer = accept(
            tables,
            key,
            assertion,
            reason=reason,
            actor=actor,
            now=datetime.now(UTC),
            reconciliation=reconciliation,
        )
    print_answer(answer, output, draw_accepted)


def _tables(config: Path | None, master: str | None, remote: str | None) -> AbstractContextManager[Tables]:
    from treaty.cli.registry_connection import needing
    from treaty.settings import load_settings

    with needing("spark"):
        from treaty.cli.data_tests import spark_options
        from treaty.cli.pipeline_project import opened_tables
    settings = load_settings(config)
    return opened_tables(settings, spark_options(settings.spark(), master, remote))


def _age(text: str | None) -> timedelta | None:
    from datetime import timedelta

    from treaty.contracts.quantities import parse_seconds

    if text is None:
        return None
    found = parse_seconds(text)
    if found is None or found < 0 or found > timedelta.max.total_seconds():
        raise typer.BadParameter(f"{text!r} is no time; write it like 12h or 7d", param_hint="--older-than")
    return timedelta(seconds=float(found))
