"""`treaty certify`: check a publisher against the contracts of its events."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    MasterOption,
    RegistryOption,
    RemoteOption,
    TokenFileOption,
    parse_time,
)


def certify(
    publisher: Annotated[
        str,
        typer.Argument(
            metavar="PUBLISHER",
            help="A file, folder or glob of JSON lines; 'run:COMMAND', which prints them; kafka://HOST:PORT/TOPIC; or "
            "webhook://127.0.0.1:PORT, to which the publisher posts.",
        ),
    ],
    contract: Annotated[
        list[str],
        typer.Option(
            "--contract",
            "-c",
            metavar="CONTRACT",
            help="A contract file, a folder of event contracts, or classes, classes@1 or classes@1.2.0 in a registry. "
            "Repeatable: name those of all event types of a stream.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the publisher, for the certificate.", show_default=False)
    ] = None,
    type_field: Annotated[
        str | None,
        typer.Option(
            "--type-field",
            metavar="FIELD",
            help="The field of a record with the event type, if records are neither CloudEvents nor have the header "
            "ce_type.",
            show_default=False,
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="The events happen while they are certified: check how fast they arrive."),
    ] = False,
    max_events: Annotated[
        int, typer.Option("--max-events", min=1, metavar="N", help="Collect at most this many events; not for files.")
    ] = 100_000,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="Collect events for at most this long; not for files.")
    ] = 60.0,
    security: Annotated[
        list[str] | None,
        typer.Option(
            "--security",
            metavar="SETTING=VARIABLE",
            help="The environment variable of a security setting of the brokers, such as password=KAFKA_PASSWORD. "
            "Repeatable.",
            show_default=False,
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            metavar="TIME",
            help="Certify as of this time, such as 2026-12-31T08:00Z.",
            show_default=False,
        ),
    ] = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    master: MasterOption = None,
    remote: RemoteOption = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Check the events of a publisher against their contracts: schema, order, delivery, life cycle, leaks, lateness.

    The report says what was checked, what was found with examples, and what the publisher was not seen to send. The
    exit code is 3 if a check failed.
    """
    from treaty.cli.registry_connection import requires_extra
    from treaty.cli.render.certification import print_certification
    from treaty.settings import load_settings

    settings = load_settings(config)
    with requires_extra("spark"):
        from treaty.cli.certification import Request, certify_publisher, event_contracts
        from treaty.cli.data_tests import parse_pairs
        from treaty.cli.publishers import Limits
        from treaty.cli.spark_session import spark_options
    contracts = event_contracts(contract, registry, token_file, settings)
    spark = spark_options(settings.spark(), master, remote)
    request = Request(contracts, Limits(max_events, seconds), spark, type_field, live, parse_time(now))
    found = certify_publisher(publisher, parse_pairs(security, "--security"), name, request)
    print_certification(found, output)
    if not found.passed:
        raise typer.Exit(ExitCode.FINDINGS)
