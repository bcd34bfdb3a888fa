"""`treaty proposals`: breaking changes that wait for approval."""

from __future__ import annotations

from enum import StrEnum
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


class State(StrEnum):
    """Where a proposal stands.

    Said again here so that the command starts without loading the registry; a test holds the two together.
    """

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"


def run(
    state: Annotated[State | None, typer.Option("--state", help="Only these.", show_default=False)] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List breaking changes that wait, or waited, for approval."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.governance import draw_proposals
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.governance.proposals(state=state, cursor=at, limit=most), part)
    print_page(page, output, draw_proposals, "no change waits, or waited, for approval")
