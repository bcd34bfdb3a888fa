"""`treaty subscribe`: say that a consumer depends on a line, and on which fields."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
)


class ConsumerClass(StrEnum):
    """What rests on the data; the last three are critical.

    Said again here so that the command starts without loading the registry; a test holds the two together.
    """

    EXPLORATORY_ANALYTICS = "exploratory_analytics"
    OPERATIONAL_REPORTING = "operational_reporting"
    DECISION_AUTOMATION = "decision_automation"
    EXTERNAL_REGULATORY = "external_regulatory"
    SERVICE_ORCHESTRATION = "service_orchestration"


def run(
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="Who reads.")],
    line: Annotated[str, typer.Argument(metavar="LINE", help="A line, such as orders@1.")],
    *,
    consumer_class: Annotated[ConsumerClass, typer.Option("--class", help="What rests on the data.")],
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="PATH",
            help="A field it reads; once for each. Without any, no change is safe for it.",
            show_default=False,
        ),
    ] = None,
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="What it does with the data.", show_default=False)
    ] = None,
    latency: Annotated[
        str | None, typer.Option("--latency", help="How soon it needs the data, such as 15 min.", show_default=False)
    ] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="Where to reach it.", show_default=False)] = None,
    team: Annotated[str | None, typer.Option("--team", help="The team it belongs to.", show_default=False)] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Say that a consumer depends on a line.

    Name the fields it reads: then only changes of these concern it.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.consumers import draw_subscription
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.consumers.subscribe(
            consumer,
            line,
            consumer_class=consumer_class.value,
            fields=fields or (),
            purpose=purpose,
            latency=latency,
            contact=contact,
            team=team,
        )
    print_answer(answer, output, draw_subscription)
