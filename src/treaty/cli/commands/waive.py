"""`treaty waive`: set a finding aside, for a reason, until a day."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    ReasonOption,
    RegistryOption,
    TokenFileOption,
    day,
)


def run(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The kind of change or lint rule that is set aside.")],
    owner: Annotated[str, typer.Option("--owner", help="Who answers for it.")],
    reason: ReasonOption,
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="The last day on which it holds.")],
    contract: Annotated[str, typer.Option("--contract", help="For which contracts; * stands for anything.")] = "*",
    path: Annotated[str, typer.Option("--path", help="For which fields; * stands for anything.")] = "*",
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Set a finding aside, for a reason, until a day."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.governance import draw_waiver
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    ends = day(until, "--until") or until
    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.governance.waive(rule, owner=owner, reason=reason, until=ends, contract=contract, path=path)
    print_answer(answer, output, draw_waiver)
