"""`treaty notices`: what parties were told."""

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
        str | None, typer.Option("--contract", help="Only about this contract.", show_default=False)
    ] = None,
    party: Annotated[
        str | None, typer.Option("--party", help="Only what this team or consumer was told.", show_default=False)
    ] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List what parties were told, and how far it got."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_notices
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.notices.notices(contract=contract, party=party, cursor=at, limit=most), part)
    print_page(page, output, draw_notices, "nobody was told anything")
