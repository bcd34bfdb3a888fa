"""`treaty subscriptions`: who reads what."""

from __future__ import annotations

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
)
from treaty.cli.paging import PAGE, fetch, wanted


def run(
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only who reads this contract.", show_default=False)
    ] = None,
    consumer: Annotated[
        str | None, typer.Option("--consumer", help="Only what this consumer reads.", show_default=False)
    ] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List who reads which line, and which fields."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_subscriptions
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(
            lambda at, most: it.consumers.subscriptions(contract=contract, consumer=consumer, cursor=at, limit=most),
            part,
        )
    print_page(page, output, draw_subscriptions, "nobody is subscribed")
