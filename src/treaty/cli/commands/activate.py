"""`treaty activate`: let a draft be read, or take a deprecation back."""

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
    contract: Annotated[str, typer.Argument(metavar="CONTRACT", help="The id of a contract.")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="One of its versions.")],
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Let a draft be read, or take a deprecation back."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_version
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.activate(contract, version)
    print_answer(answer, output, draw_version)
