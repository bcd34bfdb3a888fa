"""`treaty unsubscribe`: a consumer leaves a line."""

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
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="Who reads.")],
    line: Annotated[str, typer.Argument(metavar="LINE", help="A line, such as orders@1.")],
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """End a subscription."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_ended
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.consumers.unsubscribe(consumer, line)
    print_answer(answer, output, draw_ended)
