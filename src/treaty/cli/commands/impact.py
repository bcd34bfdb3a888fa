"""`treaty impact`: whom a new version would hit, by field."""

from __future__ import annotations

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
    """Show whom a new version would hit, by field.

    A consumer that never said which fields it reads is unknown, never safe.
    """
    from treaty.cli.inputs import judging, load_given
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_impact
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    settings = load_settings(config)
    given = load_given(path, settings.limits)
    with opened(registry, token_file, settings) as it, judging():
        answer = it.consumers.impact(given.source.content, compatibility=mode)
    print_answer(answer, output, draw_impact)
