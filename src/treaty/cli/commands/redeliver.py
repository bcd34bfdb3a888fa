"""`treaty redeliver`: try again what was given up."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
)


def run(
    channel: Annotated[
        int | None, typer.Option("--channel", metavar="ID", help="Only on this channel.", show_default=False)
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Try again to deliver the notices that were given up.

    A served registry then sends them.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.output import print_data
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        again = it.notices.retry(channel=channel)
    if output is AnswerFormat.JSON:
        print_data({"deliveries": again})
    else:
        typer.echo("nothing was given up" if not again else f"to be delivered again: {again}")
