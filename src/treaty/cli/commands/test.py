"""`treaty test`: test data against a contract."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    ConfigOption,
    DataArgument,
    DataFormatOption,
    MasterOption,
    ReaderOption,
    RegistryOption,
    RemoteOption,
    TokenFileOption,
)
from treaty.cli.render.test_report import HeldRules, ReportFormat

if TYPE_CHECKING:
    from treaty.contracts import Contract
    from treaty.settings import Settings
    from treaty.spark.report import TestReport


class Duplicates(StrEnum):
    """Which rows with a duplicate key are valid."""

    KEEP_NONE = "keep-none"
    KEEP_FIRST = "keep-first"


class UnknownFields(StrEnum):
    """Whether rows may have fields that the contract does not declare."""

    ALLOWED = "allowed"
    REFUSED = "refused"


def run(
    contract: Annotated[
        str,
        typer.Argument(
            metavar="CONTRACT",
            help="A contract file, git:REF:path, -, or orders, orders@1 or orders@1.2.0 in a registry.",
        ),
    ],
    data: DataArgument,
    object_name: Annotated[
        str | None,
        typer.Option(
            "--object", metavar="NAME", help="The object of the contract that the data belong to.", show_default=False
        ),
    ] = None,
    data_format: DataFormatOption = None,
    option: ReaderOption = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference", metavar="OBJECT=DATA", help="Data that rows refer to. Repeatable.", show_default=False
        ),
    ] = None,
    quarantine: Annotated[
        str | None,
        typer.Option(
            "--quarantine",
            metavar="PATH",
            help="Write invalid rows with their violations here, as Parquet.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing quarantine.")] = False,
    duplicates: Annotated[
        Duplicates, typer.Option("--duplicates", help="Which rows with a duplicate key are valid.")
    ] = Duplicates.KEEP_NONE,
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order", metavar="FIELD", help="For keep-first: order rows by this field. Repeatable.", show_default=False
        ),
    ] = None,
    unknown_fields: Annotated[
        UnknownFields | None,
        typer.Option("--unknown-fields", help="Undeclared fields. Default: as the contract says.", show_default=False),
    ] = None,
    severity: Annotated[
        list[str] | None,
        typer.Option(
            "--severity",
            metavar="RULE=SEVERITY",
            help="Change the severity of a rule: error, warning or info. Repeatable.",
            show_default=False,
        ),
    ] = None,
    max_quarantined: Annotated[
        str, typer.Option("--max-quarantined", metavar="N|N%", help="How many rows may be invalid.")
    ] = "0",
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            metavar="TIME",
            help="Check freshness as of this time, such as 2026-12-31T08:00Z.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, max=1000, help="The number of invalid values to show.")
    ] = 10,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List the rules that hold too.")] = False,
    master: MasterOption = None,
    remote: RemoteOption = None,
    output: Annotated[ReportFormat, typer.Option("--format", "-f", help="Output format.")] = ReportFormat.TEXT,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the report to this file; the text is still printed.",
            show_default=False,
        ),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Record the measures of a registered contract in the registry.")
    ] = True,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Test data against a contract.

    Checks every row against every rule in one pass on Spark, and reports violations with counts and sample values.
    """
    from treaty.cli.contract_context import resolve_effective_contract
    from treaty.cli.data_checks import check_path, is_on_this_machine
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    settings = load_settings(config)
    if is_on_this_machine(settings.spark(), master, remote):
        for text, text_format in ((data, data_format), *((pair.partition("=")[2], None) for pair in reference or ())):
            check_path(text, text_format)
    with requires_extra("spark"):
        from treaty.cli import data_tests
        from treaty.cli.spark_session import spark_options
    spark = spark_options(settings.spark(), master, remote)
    password = settings.secrets.jdbc_password
    request = data_tests.DataTest(
        data=data_tests.parse_data(data, data_format, data_tests.parse_pairs(option, "--option"), password),
        object_name=object_name,
        references=data_tests.parse_references(reference, password),
        policy=data_tests.parse_policy(duplicates.value, order, unknown_fields and unknown_fields.value, severity),
        allowed=data_tests.parse_threshold(max_quarantined),
        now=data_tests.parse_time(now),
        samples=samples,
        spark=spark,
        quarantine=data_tests.quarantine_destination(quarantine, overwrite, spark),
    )
    data_tests.check_writable(file)
    resolved = resolve_effective_contract(contract, registry, token_file, settings)
    report = data_tests.run_test(request, resolved)
    data_tests.write_report(report, output, file, HeldRules.LISTED if verbose else HeldRules.COUNTED)
    if record:
        _record(report, resolved, registry, token_file, settings)
    if not report.passed:
        raise typer.Exit(ExitCode.FINDINGS)


def _record(
    report: TestReport, contract: Contract, registry: str | None, token_file: Path | None, settings: Settings
) -> None:
    """Record what was measured, if there is a registry that accepts it; a failure is only a warning."""
    from treaty.cli.data_test_measures import record_test
    from treaty.cli.registry_connection import is_server_address, open_registry, registry_to_ask
    from treaty.cli.render.plain_text import printable

    reference = registry_to_ask(registry, settings)
    is_anonymous = token_file is None and settings.secrets.token is None
    if reference is None or (is_server_address(reference) and is_anonymous):
        return
    problem = record_test(report, contract, lambda: open_registry(reference, token_file, settings))
    if problem:
        typer.echo(f"warning: {printable(problem)}", err=True)
