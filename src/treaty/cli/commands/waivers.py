"""`treaty waivers`: what is set aside."""

from __future__ import annotations

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
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List waivers, in force or not."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.governance import draw_waivers
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.governance.waivers(cursor=at, limit=most), part)
    print_page(page, output, draw_waivers, "nothing is waived")
