"""`treaty decline`: turn a breaking change down."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    NotedReasonOption,
    RegistryOption,
    TokenFileOption,
)


def run(
    identity: Annotated[int, typer.Argument(metavar="ID", help="The number of the proposal; see: treaty proposals.")],
    reason: NotedReasonOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Turn a breaking change down, or take your own back."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.governance import draw_proposal
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.governance.decline(identity, reason=reason)
    print_answer(answer, output, draw_proposal)
