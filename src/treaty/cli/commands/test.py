"""`treaty test`: test data against a contract."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

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
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Test data against a contract.

    Checks every row against every rule in one pass on Spark, and reports violations with counts and sample values.
    """
    from treaty.cli.inputs import resolve_contract
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.cli import data_tests
        from treaty.cli.spark_session import spark_options
    settings = load_settings(config)
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
    resolved = resolve_contract(contract, registry, token_file, settings)
    report = data_tests.run_test(request, resolved)
    data_tests.write_report(report, output, file, HeldRules.LISTED if verbose else HeldRules.COUNTED)
    if not report.passed:
        raise typer.Exit(ExitCode.FINDINGS)
