"""Certifying a publisher from the command line: its contracts, its records, and the checks on Spark."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.inputs import find_sources, is_document_reference, load_contracts
from treaty.cli.publishers import Limits, Publisher, RecordFiles, capture, parse_publisher
from treaty.cli.render.plain_text import printable
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.events.certification import Certification
    from treaty.events.comparison import Comparison, ComparisonReport
    from treaty.settings import Settings
    from treaty.spark.event_records import Records
    from treaty.spark.session_options import SparkOptions


_LONG_JOB_BYTES = 100_000_000
"""Some hundred thousand events; with more, compiling the checks well saves more time than starting fast."""


@dataclass(frozen=True)
class Request:
    """What is certified: contracts, how records name their type, and how much is collected."""

    contracts: tuple[Contract, ...]
    limits: Limits
    spark: SparkOptions
    type_field: str | None = None
    live: bool = False
    now: datetime | None = None
    security: Mapping[str, str] = field(default_factory=dict)


def event_contracts(
    references: Sequence[str], registry: str | None, token_file: Path | None, settings: Settings
) -> tuple[Contract, ...]:
    """Return the contracts of the event types; a folder stands for the event contracts in it."""
    from treaty.cli.contract_context import resolve_effective_contract

    found: list[Contract] = []
    for reference in references:
        if Path(reference).is_dir():
            found += _in_folder(reference, settings)
        elif registry is None and is_document_reference(reference) and not Path(reference).exists():
            raise NotFound(f"there is no contract {reference}; check the path")
        else:
            found.append(resolve_effective_contract(reference, registry, token_file, settings))
    _refuse_unfit(found)
    return tuple(found)


def _in_folder(folder: str, settings: Settings) -> list[Contract]:
    loaded = (
        one for source in find_sources([folder], settings.limits) for one in load_contracts(source, settings.limits)
    )
    newest: dict[str, Contract] = {}
    for one in loaded:
        contract = one.contract
        if contract.treaty.event is None or contract.status == "draft":
            continue
        known = newest.get(contract.id)
        if known is None or _order(contract) > _order(known):
            newest[contract.id] = contract
    if not newest:
        raise NotFound(f"{folder} has no event contracts; a contract of events states event: with a type")
    return list(newest.values())


def _order(contract: Contract) -> tuple[int, ...]:
    parts = contract.version.split("-")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _refuse_unfit(contracts: Sequence[Contract]) -> None:
    seen: dict[str, str] = {}
    for contract in contracts:
        name = contract.treaty.event.type if contract.treaty.event else contract.id
        if name in seen:
            raise InvalidDocument(
                f"{contract.id} and {seen[name]} are about the same event type {name}; name one of them"
            )
        seen[name] = contract.id
        if len(contract.schema) != 1:
            raise InvalidDocument(f"{contract.id} has {len(contract.schema)} objects; an event contract has one")


def certify_publisher(reference: str, name: str | None, request: Request) -> Certification:
    """Collect the events of a publisher and check them."""
    from treaty.cli.spark_session import command_session
    from treaty.spark.certification import certify

    publisher = parse_publisher(reference, request.security)
    with (
        collected(publisher, request) as kept,
        command_session(_options_for(request, kept)) as (session, progress),
    ):
        progress.start(f"checking {reference}")
        records = _read(session, publisher, reference, kept, request)
        return certify(records, request.contracts, name or publisher.name, request.now or datetime.now(UTC))


def compare_publishers(references: Sequence[str], names: Sequence[str] | None, request: Request) -> Comparison:
    """Collect the events of two publishers, one after the other, and compare them."""
    from treaty.cli.spark_session import command_session
    from treaty.spark.publisher_comparison import compare_publishers as compare

    left, right = (parse_publisher(reference, request.security) for reference in references)
    first, second = names or (left.name, right.name)
    if first == second:
        raise InvalidDocument(f"both publishers are named {first}; tell them apart with --name A --name B")
    with (
        collected(left, request) as one,
        collected(right, request) as other,
        command_session(_options_for(request, one, other)) as (session, progress),
    ):
        progress.start(f"comparing {references[0]} with {references[1]}")
        one_side = _read(session, left, references[0], one, request)
        other_side = _read(session, right, references[1], other, request)
        at = request.now or datetime.now(UTC)
        return compare(one_side, other_side, request.contracts, (first, second), at)


def read_report(path: Path | None) -> ComparisonReport:
    """Read the report of earlier comparisons; it is empty if there is no such file."""
    from treaty.contracts.text.reader import read_json
    from treaty.events.comparison import ComparisonReport

    if path is None or not path.exists():
        if path is not None and not path.absolute().parent.is_dir():
            raise NotFound(f"there is no folder {path.parent}; create it first")
        return ComparisonReport(())
    try:
        return ComparisonReport.from_data(read_json(path.read_bytes(), str(path)).data)
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}") from None
    except InvalidDocument as error:
        raise InvalidDocument(f"{path} cannot be extended: {error}; choose another file with --report") from None


def write_report(path: Path, report: ComparisonReport) -> None:
    """Replace the report."""
    from treaty.cli.data_tests import write_file
    from treaty.contracts.text.writer import write_json

    write_file(path, write_json(report.as_data()))


@dataclass(frozen=True)
class Collected:
    """Where the records of a publisher are, and what their transport says about them."""

    path: str
    has_arrival_times: bool = False
    has_partitions: bool = False
    bounded_by: str | None = None


@contextmanager
def collected(publisher: Publisher, request: Request) -> Iterator[Collected]:
    """Collect the records of a publisher in a folder that is deleted afterwards; files are read where they are."""
    if isinstance(publisher, RecordFiles):
        from treaty.cli.data_checks import check_path

        if request.spark.is_local:
            check_path(publisher.path, "json")
        yield Collected(publisher.path)
        return
    if not request.spark.is_local:
        raise InvalidDocument(
            "topics, commands and webhooks are collected in a file of this machine, which a remote Spark cannot read; "
            "run without --remote, or certify files that Spark can read"
        )
    with tempfile.TemporaryDirectory(prefix="treaty-certify-") as folder:
        found = capture(publisher, Path(folder), request.limits, live=request.live)
        if not found.count:
            limit = f"within {found.bounded_by}" if found.bounded_by else "before it ended"
            raise NotFound(
                f"{_shown(publisher)} sent no events {limit}; check that it publishes, or wait longer with --seconds"
            )
        yield Collected(str(found.path), found.has_arrival_times, found.has_partitions, found.bounded_by)


def _options_for(request: Request, *inputs: Collected) -> SparkOptions:
    """Return the options of Spark for records: with many of them, those of a long job."""
    from treaty.cli.data_checks import local_size
    from treaty.spark.session_options import Start

    if not request.spark.is_local or sum(local_size(one.path) for one in inputs) < _LONG_JOB_BYTES:
        return request.spark
    return replace(request.spark, start=Start.THROUGHPUT)


def _shown(publisher: Publisher) -> str:
    return publisher.path if isinstance(publisher, RecordFiles) else publisher.name


def _read(session: SparkSession, publisher: Publisher, reference: str, kept: Collected, request: Request) -> Records:
    from treaty.spark.event_records import Transport, read_capture, read_record_files

    transport = Transport(reference, request.type_field, kept.has_arrival_times, kept.has_partitions, kept.bounded_by)
    read = read_record_files if isinstance(publisher, RecordFiles) else read_capture
    return read(session, kept.path, transport)


def record_certificates(
    found: Certification, days: int, registry: str | None, token_file: Path | None, settings: Settings
) -> None:
    """Issue a certificate for each contract in the registry, if there is one; what it refuses is only a warning.

    Without a registry, or without a token for its server, a note says that none was issued.
    """
    from treaty.cli.registry_connection import is_server_address, open_registry, registry_to_ask

    reference = registry_to_ask(registry, settings)
    if reference is None:
        typer.echo("no certificate was issued: there is no registry", err=True)
        return
    if is_server_address(reference) and token_file is None and settings.secrets.token is None:
        note = f"no certificate was issued: sign in to {reference} with TREATY_TOKEN or --token-file"
        typer.echo(printable(note), err=True)
        return
    with open_registry(reference, token_file, settings) as opened:
        for one in found.contracts:
            if not one.events:
                continue
            try:
                answer = opened.certificates.issue(f"{one.id}@{one.version.partition('.')[0]}", found, days=days)
            except TreatyError as error:
                typer.echo(printable(f"warning: no certificate for {one.id}: {error}"), err=True)
                continue
            until = f"{answer.expires_at:%Y-%m-%d}"
            typer.echo(printable(f"issued certificate {answer.id} for {answer.line} until {until}"), err=True)
