"""`treaty tick`: what the calendar asks for."""

from __future__ import annotations

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
)


def run(
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Advance every version whose day has come.

    A served registry does so by itself.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_steps
    from treaty.cli.render.output import print_answers
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        steps = it.tick()
    print_answers(steps, output, draw_steps)
    if not steps and output is AnswerFormat.TEXT:
        typer.echo("nothing is due")
