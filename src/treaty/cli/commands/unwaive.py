"""`treaty unwaive`: end a waiver before its day."""

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
    identity: Annotated[int, typer.Argument(metavar="ID", help="The number of the waiver; see: treaty waivers.")],
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """End a waiver before its day."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.governance import draw_waiver
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.governance.revoke_waiver(identity)
    print_answer(answer, output, draw_waiver)
