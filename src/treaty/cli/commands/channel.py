"""`treaty channel`: where parties get their notices."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    RegistryOption,
    TokenFileOption,
    command_group,
)
from treaty.cli.paging import PAGE, fetch, wanted

app = command_group("Say where teams and consumers get their notices.")


class ChannelKind(StrEnum):
    """The ways a notice travels.

    Said again here so that the command starts without loading the registry; a test holds the two together.
    """

    WEBHOOK = "webhook"
    SLACK = "slack"
    EMAIL = "email"
    LOG = "log"


@app.command("add")
def add(
    party: Annotated[str, typer.Argument(metavar="PARTY", help="A team or consumer; * stands for all.")],
    kind: Annotated[ChannelKind, typer.Argument(metavar="KIND", help="webhook, slack, email or log.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A URL, an e-mail address or a logger's name; - reads it from standard input."
        ),
    ],
    secret_file: Annotated[
        Path | None,
        typer.Option("--secret-file", help="A file with the secret that webhooks are signed with.", show_default=False),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Send a team or consumer its notices."""
    from treaty.cli.inputs import STANDARD_INPUT
    from treaty.cli.registry_connection import Absent, needing, opened, read_secret
    from treaty.cli.render.admin import draw_added
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    secret = read_secret(secret_file, "secret") if secret_file is not None else None
    with needing("registry"):
        from treaty.registry.notices.channels import check_secret
    check_secret(secret)
    place = typer.get_text_stream("stdin").readline().strip() if target == STANDARD_INPUT else target
    with opened(registry, token_file, load_settings(config), Absent.MAKE) as it:
        answer = it.notices.add_channel(party, kind=kind.value, target=place, secret=secret)
    print_answer(answer, output, draw_added)


@app.command("list")
def list_channels(
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List where notices go; secrets are not shown."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_channels
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.notices.channels(cursor=at, limit=most), part)
    print_page(page, output, draw_channels, "no channel; add one with: treaty channel add")


@app.command("remove")
def remove(
    identity: Annotated[int, typer.Argument(metavar="ID", help="The number of the channel.")],
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Send nothing to a channel any more."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_removed
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.notices.remove_channel(identity)
    print_answer(answer, output, draw_removed)
