"""`treaty graph`: who depends on whom."""

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
    node: Annotated[str, typer.Argument(metavar="NODE", help="A line, a contract or a consumer.")],
    up: Annotated[
        bool, typer.Option("--up/--down", help="What it rests on, or who rests on it.", show_default="down")
    ] = False,
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="How far to look.", show_default=False)] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show who rests on a line, or what it rests on."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_graph
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.consumers.graph(node, direction="upstream" if up else "downstream", depth=depth)
    print_answer(answer, output, draw_graph)
