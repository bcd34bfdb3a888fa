"""`treaty deprecate`: announce that a version or a line goes away."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
    day,
)


def run(
    subject: Annotated[str, typer.Argument(metavar="CONTRACT|LINE", help="A contract, or a line such as orders@1.")],
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="One version of the contract; not with a line.", show_default=False),
    ] = None,
    *,
    plan: Annotated[str, typer.Option("--plan", metavar="URI", help="Where the migration plan is.")],
    sunset: Annotated[
        str | None,
        typer.Option(
            "--sunset", metavar="DATE", help="When it ends; by default after the least period.", show_default=False
        ),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Announce that a version or a line goes away.

    Its consumers are told, with the day of its sunset and the plan.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_versions
    from treaty.cli.render.output import print_answers
    from treaty.settings import load_settings

    ends = day(sunset, "--sunset")
    with opened(registry, token_file, load_settings(config)) as it:
        answer = (
            [it.deprecate(subject, version, deprecation_uri=plan, sunset_on=ends)]
            if version is not None
            else it.deprecate_line(subject, deprecation_uri=plan, sunset_on=ends)
        )
    print_answers(answer, output, draw_versions)
