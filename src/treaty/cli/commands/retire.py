"""`treaty retire`: end a version or a line that nobody reads any more."""

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
    subject: Annotated[str, typer.Argument(metavar="CONTRACT|LINE", help="A contract, or a line such as orders@1.")],
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="One version of the contract; not with a line.", show_default=False),
    ] = None,
    override: OverrideOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """End a version or a line.

    Refused before its day, or while somebody reads it; ask first with: treaty can-i-retire.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_versions
    from treaty.cli.render.output import print_answers
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = (
            [it.retire(subject, version, override=override)]
            if version is not None
            else it.retire_line(subject, override=override)
        )
    print_answers(answer, output, draw_versions)
