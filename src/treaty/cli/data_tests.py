"""What `treaty test` does: read what is asked for, run it on Spark, deliver the report."""

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

from treaty.cli.progress import Steps, told_steps
from treaty.cli.render.test_report import Held, ReportFormat, drawn
from treaty.contracts.findings import Severity
from treaty.errors import Unavailable
from treaty.spark import Duplicates, KeyReading, Policy, UnknownFields, enforce
from treaty.spark.checks import Threshold
from treaty.spark.drift import TextTyping
from treaty.spark.readers import Data, Database, Files, Source, explain_errors, open_data, options_for, parse_source
from treaty.spark.report import DataTestOptions, Destination, Existing, TestReport, run_data_test
from treaty.spark.schema import select_object
from treaty.spark.session import active_session, spark_session, track_progress
from treaty.spark.session_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.contracts import Contract
    from treaty.contracts.model import SchemaObject


_AMOUNT = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?P<percent>%?)")


@dataclass(frozen=True)
class Given:
    """Data that are to be read, and options for whoever reads them."""

    source: Source
    options: Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """One test, all of it."""

    data: Given
    object_name: str | None
    references: Mapping[str, Given]
    policy: Policy
    allowed: Threshold
    now: datetime | None
    samples: int
    spark: SparkOptions
    quarantine: Destination | None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything that is read."""
        return (self.data.source, *(one.source for one in self.references.values()))


def data(text: str, data_format: str | None, options: Mapping[str, str], password: str | None) -> Given:
    """Read what the data are called; a database gets the password that is set."""
    source = parse_source(text, data_format)
    if any(name.lower() == "password" for name in options):
        raise typer.BadParameter(
            "a password on a command line can be seen by others; set TREATY_JDBC_PASSWORD", param_hint="--option"
        )
    if isinstance(source, Database) and password is not None:
        return Given(source, {**options, "password": password})
    return Given(source, options)


def pairs(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read NAME=VALUE, each name once."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise typer.BadParameter(f"{text!r} is no pair; write NAME=VALUE", param_hint=option)
        if name.strip() in found:
            raise typer.BadParameter(f"{name.strip()!r} is given twice", param_hint=option)
        found[name.strip()] = value
    return found


def references(texts: Sequence[str] | None, password: str | None) -> dict[str, Given]:
    """Read the data that rows refer to, by object."""
    return {name: data(text, None, {}, password) for name, text in pairs(texts, "--reference").items()}


def policy(
    duplicates: str, order: Sequence[str] | None, unknown_fields: str | None, severity: Sequence[str] | None
) -> Policy:
    """Read the choices that a contract leaves open."""
    return Policy(
        Duplicates(duplicates.replace("-", "_")),
        tuple(order or ()),
        None if unknown_fields is None else UnknownFields(unknown_fields),
        weights(severity),
    )


def weights(texts: Sequence[str] | None) -> dict[str, Severity]:
    """Read RULE=WEIGHT; the id of a rule may have an equals sign in it itself."""
    found = {}
    for text in texts or ():
        rule, _, weight = text.rpartition("=")
        if not rule or weight not in list(Severity):
            known = ", ".join(Severity)
            raise typer.BadParameter(f"{text!r}: write RULE=WEIGHT, with one of: {known}", param_hint="--severity")
        found[rule] = Severity(weight)
    return found


def allowance(text: str) -> Threshold:
    """Read how many rows may be quarantined: a number of them, or their share."""
    read = _AMOUNT.fullmatch(text.strip())
    amount = Decimal(read["number"]) if read else None
    percent = bool(read and read["percent"])
    if amount is None or (percent and amount > 100) or (not percent and amount != int(amount)):
        raise typer.BadParameter(
            f"{text!r}: write a number of rows, or a share such as 0.1%", param_hint="--max-quarantined"
        )
    return Threshold("mustBeLessOrEqualTo", int(amount) if amount == int(amount) else float(amount), percent)


def moment(text: str | None) -> datetime | None:
    """Read a time; without a zone it is in UTC."""
    if text is None:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no time; write it like 2026-12-31T08:00Z", param_hint="--now") from None
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)


def spark_options(known: SparkOptions, master: str | None, remote: str | None) -> SparkOptions:
    """Return the session that is asked for: as set, or where the options say."""
    if master is not None and remote is not None:
        raise typer.BadParameter("Spark runs in one place: give --master or --remote", param_hint="--remote")
    if remote is not None and not remote.startswith("sc://"):
        raise typer.BadParameter(
            f"{remote!r}: a Spark Connect server is named like sc://host:15002", param_hint="--remote"
        )
    where = master or remote
    return known if where is None else replace(known, master=where)


def destination(path: str | None, overwrite: bool, spark: SparkOptions) -> Destination | None:
    """Return where the quarantine goes; a Spark on this machine writes to its folders."""
    if path is None:
        if overwrite:
            raise typer.BadParameter("there is nothing to replace without --quarantine", param_hint="--overwrite")
        return None
    return Destination(path, Existing.REPLACED if overwrite else Existing.KEPT, spark.is_local)


def refuse_unless_writable(file: Path | None) -> None:
    """Refuse, before long work, a file that cannot be written after it."""
    if file is None:
        return
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder; name a file", param_hint="--output")
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}; make it first", param_hint="--output")
    if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
        raise typer.BadParameter(f"{file} cannot be written", param_hint="--output")


def deliver(report: TestReport, output: ReportFormat, file: Path | None, held: Held) -> None:
    """Print the report; where a file takes it, what is printed is for people."""
    if file is not None:
        _write(file, drawn(report, output, held))
    if file is None and output is not ReportFormat.TEXT:
        typer.echo(drawn(report, output, held), nl=False)
        return
    from treaty.cli.render.test_report.text import print_report

    print_report(report, held)
    if file is not None:
        typer.echo(f"wrote {file}", err=True)


def _write(file: Path, text: str) -> None:
    """Write a file whole or not at all; what is no plain file, such as a device, is written to as it is."""
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
            return
        made = file.absolute().parent / f".{file.name}.{uuid.uuid4().hex}"
        try:
            made.write_text(text, encoding="utf-8")
            made.replace(file)
        finally:
            made.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None


def run_test(asked: Request, contract: Contract) -> TestReport:
    """Run the test; a session that was started for it is stopped again."""
    declared = select_object(contract, asked.object_name)
    if asked.quarantine is not None:
        read = tuple(source.path for source in asked.sources if isinstance(source, Files))
        asked.quarantine.refuse_unless_free(read)
    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(options_for(asked.spark, asked.sources))
        try:
            with steps.measured_by(track_progress(session)):
                return _tested(session, asked, contract, declared, steps)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()


def _tested(
    session: SparkSession, asked: Request, contract: Contract, declared: SchemaObject, steps: Steps
) -> TestReport:
    what = asked.data.source
    steps.tell(f"reading {what}")
    data = _opened(session, asked.data, declared)
    others = {
        name: _opened(session, given, next((item for item in contract.schema if item.name == name), None)).frame
        for name, given in asked.references.items()
    }
    with explain_errors(what):
        keys = KeyReading.ALONE if data.keeps_columns_apart else KeyReading.WITH_ROWS
        policy = replace(asked.policy, keys=keys)
        enforcement = enforce(data.frame, contract, object_name=declared.name, policy=policy, references=others)
        texts = TextTyping.UNTYPED if data.untyped else TextTyping.TYPED
        wanted = DataTestOptions(asked.now, asked.samples, asked.allowed, asked.quarantine, texts)
        return run_data_test(enforcement, str(what), wanted, steps.tell)


def _opened(session: SparkSession, given: Given, declared: SchemaObject | None) -> Data:
    return open_data(session, given.source, declared=declared, options=given.options)
