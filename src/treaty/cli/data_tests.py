"""Tests of data: parse the options, run the test on Spark, write the report."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.data_checks import check_rule_names, check_separator
from treaty.cli.render.test_report import HeldRules, ReportFormat, render_report
from treaty.cli.spark_session import command_session
from treaty.contracts.findings import Severity
from treaty.errors import Unavailable
from treaty.spark import Duplicates, KeyReading, Policy, UnknownFields, enforce
from treaty.spark.drift import TextTyping
from treaty.spark.readers import Data, Database, Files, Source, explain_errors, open_data, options_for, parse_source
from treaty.spark.report import DataTestOptions, Destination, Existing, TestReport, run_data_test
from treaty.spark.report.quarantine import with_origin
from treaty.spark.rules import Threshold
from treaty.spark.schema import select_object
from treaty.spark.session import track_progress
from treaty.spark.session_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.cli.progress import Progress
    from treaty.contracts import Contract
    from treaty.contracts.model import SchemaObject


_AMOUNT = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?P<percent>%?)")


@dataclass(frozen=True)
class DataInput:
    """Data to read, and options for its reader."""

    source: Source
    options: Mapping[str, str]


@dataclass(frozen=True)
class DataTest:
    """The parameters of one test."""

    data: DataInput
    object_name: str | None
    references: Mapping[str, DataInput]
    policy: Policy
    allowed: Threshold
    now: datetime | None
    samples: int
    spark: SparkOptions
    quarantine: Destination | None

    @property
    def sources(self) -> tuple[Source, ...]:
        """All data that the test reads."""
        return (self.data.source, *(reference.source for reference in self.references.values()))


def parse_data(text: str, data_format: str | None, options: Mapping[str, str], password: str | None) -> DataInput:
    """Parse a reference to data; the configured password is added for a database."""
    source = parse_source(text, data_format)
    if any(name.lower() == "password" for name in options):
        raise typer.BadParameter(
            "other users can see a password on the command line; set TREATY_JDBC_PASSWORD", param_hint="--option"
        )
    if isinstance(source, Database) and password is not None:
        return DataInput(source, {**options, "password": password})
    return DataInput(source, options)


def parse_pairs(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """Parse NAME=VALUE pairs; each name may occur once."""
    pairs: dict[str, str] = {}
    for text in texts or ():
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise typer.BadParameter(f"{text!r} is not a pair; write NAME=VALUE", param_hint=option)
        if name.strip() in pairs:
            raise typer.BadParameter(f"{name.strip()!r} is given twice", param_hint=option)
        pairs[name.strip()] = value
    return pairs


def parse_references(texts: Sequence[str] | None, password: str | None) -> dict[str, DataInput]:
    """Parse OBJECT=DATA: the data that rows refer to."""
    return {name: parse_data(text, None, {}, password) for name, text in parse_pairs(texts, "--reference").items()}


def parse_policy(
    duplicates: str, order: Sequence[str] | None, unknown_fields: str | None, severity: Sequence[str] | None
) -> Policy:
    """Build the enforcement policy from the options."""
    return Policy(
        Duplicates(duplicates.replace("-", "_")),
        tuple(order or ()),
        None if unknown_fields is None else UnknownFields(unknown_fields),
        parse_severities(severity),
    )


def parse_severities(texts: Sequence[str] | None) -> dict[str, Severity]:
    """Parse RULE=SEVERITY; the id of a rule may itself contain an equals sign."""
    severities = {}
    for text in texts or ():
        rule, _, severity = text.rpartition("=")
        if not rule or severity not in list(Severity):
            choices = ", ".join(Severity)
            raise typer.BadParameter(f"{text!r}: write RULE=SEVERITY with one of {choices}", param_hint="--severity")
        severities[rule] = Severity(severity)
    return severities


def parse_threshold(text: str) -> Threshold:
    """Parse the number or share of rows that may be quarantined."""
    match = _AMOUNT.fullmatch(text.strip())
    amount = Decimal(match["number"]) if match else None
    percent = bool(match and match["percent"])
    if amount is None or (percent and amount > 100) or (not percent and amount != int(amount)):
        raise typer.BadParameter(
            f"{text!r}: write a number of rows, or a share such as 0.1%", param_hint="--max-quarantined"
        )
    return Threshold("mustBeLessOrEqualTo", int(amount) if amount == int(amount) else float(amount), percent)


def parse_time(text: str | None) -> datetime | None:
    """Parse a time; without a time zone it is UTC."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time; write it like 2026-12-31T08:00Z", param_hint="--now"
        ) from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def quarantine_destination(path: str | None, overwrite: bool, spark: SparkOptions) -> Destination | None:
    """Return where to write the quarantine, or None. A local Spark writes to folders of this machine."""
    if path is None:
        if overwrite:
            raise typer.BadParameter("--overwrite needs --quarantine", param_hint="--overwrite")
        return None
    return Destination(path, Existing.REPLACED if overwrite else Existing.KEPT, spark.is_local)


def check_writable(file: Path | None) -> None:
    """Fail before the test runs if the report could not be written afterwards."""
    if file is None:
        return
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder; give a file", param_hint="--output")
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}; create it first", param_hint="--output")
    if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
        raise typer.BadParameter(f"{file} cannot be written", param_hint="--output")


def write_report(report: TestReport, output: ReportFormat, file: Path | None, held_rules: HeldRules) -> None:
    """Print the report, or write it to a file and print it as text."""
    if file is not None:
        write_file(file, render_report(report, output, held_rules))
    if file is None and output is not ReportFormat.TEXT:
        typer.echo(render_report(report, output, held_rules), nl=False)
        return
    from treaty.cli.render.test_report.text import print_report

    print_report(report, held_rules)
    if file is not None:
        typer.echo(f"wrote {file}", err=True)


def write_file(file: Path, text: str) -> None:
    """Write a file atomically. A device or pipe is written to directly."""
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
            return
        temporary = file.absolute().parent / f".{file.name}.{uuid.uuid4().hex}"
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None


def run_test(request: DataTest, contract: Contract) -> TestReport:
    """Run a test on Spark."""
    declared = select_object(contract, request.object_name)
    check_rule_names(request.policy, contract, declared)
    if request.spark.is_local and isinstance(request.data.source, Files):
        check_separator(request.data.source, request.data.options, declared)
    if request.quarantine is not None:
        files = tuple(source.path for source in request.sources if isinstance(source, Files))
        request.quarantine.refuse_unless_free(files)
    with (
        command_session(options_for(request.spark, request.sources)) as (session, progress),
        progress.measured_by(track_progress(session)),
    ):
        return _test(session, request, contract, declared, progress)


def _test(
    session: SparkSession, request: DataTest, contract: Contract, declared: SchemaObject, progress: Progress
) -> TestReport:
    source = request.data.source
    progress.start(f"reading {source}")
    data = _open(session, request.data, declared)
    objects = {schema_object.name: schema_object for schema_object in contract.schema}
    references = {
        name: _open(session, reference, objects.get(name)).frame for name, reference in request.references.items()
    }
    with explain_errors(source):
        keys = KeyReading.ALONE if data.is_columnar else KeyReading.WITH_ROWS
        policy = replace(request.policy, keys=keys)
        is_traced = request.quarantine is not None and isinstance(source, Files)
        frame, origin = with_origin(data.frame, declared) if is_traced else (data.frame, ())
        enforcement = enforce(
            frame, contract, object_name=declared.name, policy=policy, references=references, carry=origin
        )
        texts = TextTyping.UNTYPED if data.untyped else TextTyping.TYPED
        options = DataTestOptions(request.now, request.samples, request.allowed, request.quarantine, texts)
        return run_data_test(enforcement, str(source), options, progress.start)


def _open(session: SparkSession, data: DataInput, declared: SchemaObject | None) -> Data:
    return open_data(session, data.source, declared=declared, options=data.options)
