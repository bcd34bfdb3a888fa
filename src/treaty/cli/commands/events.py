"""`treaty events`: generate streams of events from contracts, and send events to a topic, a webhook or a file."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import ConfigOption, RegistryOption, SecurityOption, TokenFileOption, command_group, parse_time

app = command_group("Generate conforming and faulty streams of events, and send events.")


class EventForm(StrEnum):
    """How generated events are written."""

    CLOUD_EVENTS = "cloudevents"
    PLAIN = "plain"


@app.command("generate")
def generate(
    contracts: Annotated[
        list[str],
        typer.Argument(
            metavar="CONTRACT...",
            help="Contract files, a folder of event contracts, or classes, classes@1 or classes@1.2.0 in a registry. "
            "Name those of all event types of a stream.",
        ),
    ],
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, max=1_000_000, metavar="N", help="Number of events.")
    ] = 1_000,
    seed: Annotated[
        str, typer.Option("--seed", metavar="TEXT", help="The same seed gives the same events.", show_default=False)
    ] = "",
    violate: Annotated[
        list[str] | None,
        typer.Option(
            "--violate",
            metavar="CHECK",
            help="Violate a check of treaty certify, such as ordering.gaps, on some keys. Repeatable.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="TIME", help="The time of the first event. Default: 2026-01-01.", show_default=False
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            min=0.000001,
            metavar="SECONDS",
            help="The time between two events. Default: 60, or less for more than 43,200 events.",
            show_default=False,
        ),
    ] = None,
    nulls: Annotated[
        float, typer.Option("--nulls", min=0, max=1, metavar="SHARE", help="The share of optional values that is null.")
    ] = 0.2,
    live: Annotated[
        float | None,
        typer.Option(
            "--live",
            min=0.001,
            metavar="RATE",
            help="Write this many events per second, each at the time when it happens.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        EventForm, typer.Option("--as", help="CloudEvents with type and key, or the events alone.")
    ] = EventForm.CLOUD_EVENTS,
    type_field: Annotated[
        str | None,
        typer.Option(
            "--type-field", metavar="FIELD", help="With --as plain: the field for the event type.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to a file, not to standard output.", show_default=False
        ),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Generate events from contracts alone, one JSON line each, so that consumers can be tested without a publisher.

    The stream follows life cycles, order, rules and invariants. With --violate it breaks one promise at a time.
    """
    from treaty.cli.certification import event_contracts
    from treaty.cli.generated_events import Pace, generate_lines, parse_checks
    from treaty.events.cloud_events import render_cloud_event, render_plain
    from treaty.events.generator import DEFAULT_START, GenerationOptions
    from treaty.settings import load_settings

    if type_field is not None and form is not EventForm.PLAIN:
        raise typer.BadParameter(
            "CloudEvents have their type in `type`; use it with --as plain", param_hint="--type-field"
        )
    if live is not None and (start is not None or interval is not None):
        raise typer.BadParameter("live events happen now; leave out --start and --interval", param_hint="--live")
    checks = parse_checks(violate or [])
    found = event_contracts(contracts, registry, token_file, load_settings(config))
    if form is EventForm.PLAIN and type_field is None and len(found) > 1:
        raise typer.BadParameter(
            f"the events have {len(found)} types; name the field for them with --type-field", param_hint="--as"
        )
    step = timedelta(seconds=interval) if interval is not None else None
    options = GenerationOptions(count, seed, parse_time(start, "--start") or DEFAULT_START, step, nulls)
    render = render_cloud_event if form is EventForm.CLOUD_EVENTS else partial(render_plain, type_field=type_field)
    generate_lines(found, options, checks, Pace(live), render, output)


@app.command("send")
def send(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file of JSON lines, or - for standard input.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="kafka://HOST:PORT/TOPIC, the http:// or https:// address of a webhook, or a file to append to.",
        ),
    ],
    security: SecurityOption = None,
) -> None:
    """Send events, one after the other in their order, to a topic, a webhook or a file.

    A CloudEvent becomes a record with its attributes as headers and its partition key as key; other lines are sent as
    they are.
    """
    from treaty.cli.event_sender import send_lines
    from treaty.cli.publishers import parse_security
    from treaty.cli.registry_connection import requires_extra

    variables = parse_security(security)
    with requires_extra("kafka" if target.startswith("kafka://") else "registry"):
        sent = send_lines(source, target, variables)
    typer.echo(f"sent {sent:,} event{'' if sent == 1 else 's'} to {target}", err=True)
