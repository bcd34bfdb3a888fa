"""`treaty can-i-retire`: yes or no to retiring a line, with every reason."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
)


def run(
    line: Annotated[str, typer.Argument(metavar="LINE", help="A line, such as orders@1.")],
    version: Annotated[
        str | None, typer.Option("--version", help="Only this version of the line.", show_default=False)
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Say yes or no to retiring a line.

    Every reason is named, with its date or its consumer. Exit code 3 means no.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_decision
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.consumers.can_i_retire(line, version=version)
    print_answer(answer, output, draw_decision)
    if not answer.answer:
        raise typer.Exit(ExitCode.FINDINGS)
