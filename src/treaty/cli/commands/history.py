"""`treaty history`: every version of a contract."""

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
    contract: Annotated[str, typer.Argument(metavar="CONTRACT", help="The id of a contract.")],
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List the versions of a contract.

    In the order they were registered.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_history
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.history(contract, cursor=at, limit=most), part)
    print_page(page, output, draw_history, f"{contract} has no version")
