"""`treaty certify`: check a publisher against the contracts of its events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    MasterOption,
    RegistryOption,
    RemoteOption,
    SecurityOption,
    TokenFileOption,
    parse_time,
)

if TYPE_CHECKING:
    from treaty.cli.certification import Request
    from treaty.events.certification import Certification


def certify(
    publishers: Annotated[
        list[str],
        typer.Argument(
            metavar="PUBLISHER...",
            help="A file, folder or glob of JSON lines; 'run:COMMAND', which prints them; kafka://HOST:PORT/TOPIC; or "
            "webhook://127.0.0.1:PORT, to which the publisher posts. Two with --compare.",
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
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Compare two publishers: are they interchangeable for these contracts?"),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="With --compare: add the comparison to this report, which is created if it does not exist.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help="The name of the publisher. Default: that of its file, program or topic. Twice with --compare.",
            show_default=False,
        ),
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
    security: SecurityOption = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record/--no-record",
            help="Issue a certificate in the registry for each contract, if no check failed and there is a registry.",
        ),
    ] = True,
    days: Annotated[
        int, typer.Option("--days", min=1, max=730, metavar="N", help="How long certificates are valid.")
    ] = 90,
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

    With --compare, two publishers of the same events are compared instead: the required fields of the events of each
    key have to be equal, and optional fields to be distributed alike.

    The report says what was checked, what was found with examples, and what the publisher was not seen to send. The
    exit code is 3 if a check failed.
    """
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    _check_options(publishers, name or [], compare, report)
    settings = load_settings(config)
    with requires_extra("spark"):
        from treaty.cli.certification import Request, event_contracts, record_certificates
        from treaty.cli.publishers import Limits, parse_security
        from treaty.cli.spark_session import spark_options
    contracts = event_contracts(contract, registry, token_file, settings)
    spark = spark_options(settings.spark(), master, remote)
    variables = parse_security(security)
    request = Request(contracts, Limits(max_events, seconds), spark, type_field, live, parse_time(now), variables)
    if compare:
        passed = _compare(publishers, name, request, report, output)
    else:
        found = _certify(publishers, name, request, output)
        passed = found.passed
        if passed and record:
            record_certificates(found, days, registry, token_file, settings)
    if not passed:
        raise typer.Exit(ExitCode.FINDINGS)


def _check_options(publishers: list[str], names: list[str], compare: bool, report: Path | None) -> None:
    wanted = 2 if compare else 1
    if len(publishers) != wanted:
        more = "--compare takes two publishers" if compare else "give one publisher, or two with --compare"
        raise typer.BadParameter(f"{more}, not {len(publishers)}", param_hint="PUBLISHER")
    if names and len(names) != wanted:
        raise typer.BadParameter(f"give it {'twice' if compare else 'once'}, or not at all", param_hint="--name")
    if report is not None and not compare:
        raise typer.BadParameter("it needs --compare", param_hint="--report")


def _certify(publishers: list[str], names: list[str] | None, request: Request, output: AnswerFormat) -> Certification:
    from treaty.cli.certification import certify_publisher
    from treaty.cli.render.certification import print_certification

    found = certify_publisher(publishers[0], names[0] if names else None, request)
    print_certification(found, output)
    return found


def _compare(
    publishers: list[str], names: list[str] | None, request: Request, report: Path | None, output: AnswerFormat
) -> bool:
    from treaty.cli.certification import compare_publishers, read_report, write_report
    from treaty.cli.render.comparison import print_report

    known = read_report(report)
    extended = known.with_comparison(compare_publishers(publishers, names, request))
    if report is not None:
        write_report(report, extended)
    print_report(extended, output)
    return extended.last.interchangeable
