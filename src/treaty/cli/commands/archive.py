"""`treaty archive`: take a version out of use for good."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    OverrideOption,
    RegistryOption,
    TokenFileOption,
)


def run(
    contract: Annotated[str, typer.Argument(metavar="CONTRACT", help="The id of a contract.")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="One of its versions.")],
    override: OverrideOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Take a version out of use for good; history stays."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_version
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.archive(contract, version, override=override)
    print_answer(answer, output, draw_version)
