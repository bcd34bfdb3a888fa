"""`treaty test`: do these data keep their contract?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import ConfigOption, RegistryOption, TokenFileOption
from treaty.cli.render.test_report import Held, ReportFormat


class Duplicates(StrEnum):
    """Which of several rows with one key stay."""

    KEEP_NONE = "keep-none"
    KEEP_FIRST = "keep-first"


class UnknownFields(StrEnum):
    """What becomes of fields that the contract does not know."""

    ALLOWED = "allowed"
    REFUSED = "refused"


def run(
    contract: Annotated[
        str,
        typer.Argument(
            metavar="CONTRACT",
            help="A contract file, git:REF:path, -, or orders, orders@1, orders@1.2.0 of a registry.",
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A file or folder, a table of Spark, or a JDBC address with its table."),
    ],
    object_name: Annotated[
        str | None,
        typer.Option("--object", metavar="NAME", help="Which object of the contract the data are.", show_default=False),
    ] = None,
    data_format: Annotated[
        str | None,
        typer.Option(
            "--data-format", metavar="FORMAT", help="What the data are, if their name does not say.", show_default=False
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option for Spark's reader; may be repeated.", show_default=False
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference", metavar="OBJECT=DATA", help="Data that rows refer to; may be repeated.", show_default=False
        ),
    ] = None,
    quarantine: Annotated[
        str | None,
        typer.Option(
            "--quarantine",
            metavar="PATH",
            help="Write bad rows with their reasons here, as parquet.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the quarantine that is there.")] = False,
    duplicates: Annotated[
        Duplicates, typer.Option("--duplicates", help="Which of several rows with one key stay.")
    ] = Duplicates.KEEP_NONE,
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order", metavar="FIELD", help="Which row of a key is first: the least by this field.", show_default=False
        ),
    ] = None,
    unknown_fields: Annotated[
        UnknownFields | None,
        typer.Option(
            "--unknown-fields", help="Rows with fields the contract does not know; else as it says.", show_default=False
        ),
    ] = None,
    severity: Annotated[
        list[str] | None,
        typer.Option(
            "--severity",
            metavar="RULE=WEIGHT",
            help="Weigh a rule or kind anew: error, warning or info.",
            show_default=False,
        ),
    ] = None,
    max_quarantined: Annotated[
        str, typer.Option("--max-quarantined", metavar="N|N%", help="How many rows may be quarantined.")
    ] = "0",
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            metavar="TIME",
            help="Judge freshness as of this time, such as 2026-12-31T08:00Z.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=0, max=1000, help="How many offending values to show.")] = 10,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List the rules that held too.")] = False,
    master: Annotated[
        str | None,
        typer.Option(
            "--master", metavar="URL", help="Where Spark runs; by default as set, local[*].", show_default=False
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
    ] = None,
    output: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="How to write the report.")
    ] = ReportFormat.TEXT,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the report here; as text it is printed all the same.",
            show_default=False,
        ),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Test data against their contract.

    Holds every row to every rule in one pass of Spark; says what is broken, how often and by which values.
    """
    from treaty.cli.inputs import find_contract
    from treaty.cli.registry_connection import needing
    from treaty.settings import load_settings

    with needing("spark"):
        from treaty.cli import data_tests
    settings = load_settings(config)
    spark = data_tests.spark_options(settings.spark(), master, remote)
    password = settings.secrets.jdbc_password
    asked = data_tests.Request(
        data=data_tests.data(data, data_format, data_tests.pairs(option, "--option"), password),
        object_name=object_name,
        references=data_tests.references(reference, password),
        policy=data_tests.policy(duplicates.value, order, unknown_fields and unknown_fields.value, severity),
        allowed=data_tests.allowance(max_quarantined),
        now=data_tests.moment(now),
        samples=samples,
        spark=spark,
        quarantine=data_tests.destination(quarantine, overwrite, spark),
    )
    data_tests.refuse_unless_writable(file)
    held_to = find_contract(contract, registry, token_file, settings)
    report = data_tests.run_test(asked, held_to)
    data_tests.deliver(report, output, file, Held.LISTED if verbose else Held.SUMMED)
    if not report.passed:
        raise typer.Exit(ExitCode.FINDINGS)
