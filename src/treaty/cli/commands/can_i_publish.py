"""`treaty can-i-publish`: yes or no to a new version, with every reason."""

from __future__ import annotations

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    ModeOption,
    PathArgument,
    RegistryOption,
    TokenFileOption,
)


def run(
    path: PathArgument,
    mode: ModeOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Say yes or no to publishing a new version.

    Over versions, consumers, policies and dates; every reason is named. Exit code 3 means no.
    """
    from treaty.cli.inputs import judging, load_given
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_decision
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    settings = load_settings(config)
    given = load_given(path, settings.limits)
    with opened(registry, token_file, settings) as it, judging():
        answer = it.consumers.can_i_publish(given.source.content, compatibility=mode)
    print_answer(answer, output, draw_decision)
    if not answer.answer:
        raise typer.Exit(ExitCode.FINDINGS)
