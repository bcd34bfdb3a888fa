"""The pipeline project of a command: its declarations, contracts, settings, tables and plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.registry_connection import is_server_address, open_registry
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.loader import contract_from
from treaty.errors import Conflict, InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from treaty.contracts import Contract
    from treaty.contracts.versions import Line
    from treaty.pipeline.maintenance import Retention
    from treaty.pipeline.plan import Plan
    from treaty.pipeline.plan.contract_drafts import Draft
    from treaty.pipeline.project.contract_resolution import ResolvedContracts
    from treaty.pipeline.project.declarations import Project, Source
    from treaty.pipeline.sources import SeenFiles
    from treaty.pipeline.tables import TableCatalog, Tables
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.spark.jars import Package
    from treaty.spark.session_options import SparkOptions

    RegistryOpener = Callable[[], AbstractContextManager[Registry | RegistryClient]]


@dataclass(frozen=True)
class OpenedProject:
    """A project with its contracts and settings."""

    project: Project
    contracts: ResolvedContracts
    settings: Settings
    registry: RegistryOpener | None = None
    """Opens the configured registry; None if there is no registry."""


def open_project(folder: Path, config: Path | None, token_file: Path | None = None) -> OpenedProject:
    """Read a project and find its contracts, in the configured registry or else in its folders."""
    settings = load_settings(config, start=folder)
    return _open(folder, settings, _registry(settings, token_file))


def open_offline(folder: Path, config: Path | None) -> OpenedProject:
    """Read a project and find its contracts in its folders, or else as they were last known, without the registry."""
    settings = load_settings(config, start=folder)
    try:
        return _open(folder, settings, None)
    except NotFound:
        if _registry(settings, None) is None:
            raise
        return _open(folder, settings, _closed_registry)


def _closed_registry() -> AbstractContextManager[Registry | RegistryClient]:
    raise Unavailable("the registry is not asked with --offline")


def _open(folder: Path, settings: Settings, registry: RegistryOpener | None) -> OpenedProject:
    from treaty.pipeline.project import read_project
    from treaty.pipeline.project.contract_files import Inheritance
    from treaty.pipeline.project.contract_resolution import OnRegistryDown, resolve_contracts

    project = read_project(folder, settings.limits, settings.name)
    pipeline = settings.parts.pipeline
    contracts = resolve_contracts(
        project,
        [Path(folder) for folder in pipeline.contracts],
        registry,
        OnRegistryDown(pipeline.on_registry_down),
        settings.limits,
        Inheritance(settings.default_policies(), datetime.now(UTC).date()),
    )
    return OpenedProject(project, contracts, settings, registry)


def write_drafts(folder: Path, config: Path | None) -> tuple[tuple[tuple[Path, Draft], ...], tuple[Finding, ...]]:
    """Write drafts of the contracts that a project declares and that do not exist to its first contract folder.

    Returns the files with their drafts, and the problems of the contracts that could not be drafted.
    """
    from treaty.contracts import document_of
    from treaty.contracts.text.writer import write_yaml
    from treaty.pipeline.plan.contract_drafts import draft_contracts
    from treaty.pipeline.project import read_project
    from treaty.pipeline.project.contract_resolution import find_existing_contracts

    settings = load_settings(config, start=folder)
    project = read_project(folder, settings.limits, settings.name)
    folders = [Path(path) for path in settings.parts.pipeline.contracts]
    existing = find_existing_contracts(project, folders, _registry(settings, None), settings.limits)
    drafts, problems = draft_contracts(project, existing)
    written = []
    for draft in drafts:
        line = draft.declared.line
        file = folders[0] / f"{line.contract}{f'.v{line.major}' if line.major > 1 else ''}.yaml"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as text:
                text.write(write_yaml(document_of(draft.contract)))
        except FileExistsError:
            raise Conflict(f"{file} exists, but has no contract {line}; rename it") from None
        except OSError as error:
            raise Unavailable(f"cannot write {file}: {error.strerror}") from None
        written.append((file, draft))
    return tuple(written), problems


def stated_contracts(opened: OpenedProject) -> dict[Line, Contract]:
    """Return the contracts of a project as they are written, without what they inherit."""
    from treaty.pipeline.project.contract_files import read_contract_files, used_versions

    resolved = opened.contracts.by_line
    if opened.registry is None:
        folders = [Path(folder) for folder in opened.settings.parts.pipeline.contracts]
        used = used_versions(read_contract_files(folders, opened.settings.limits))
        return {line: used[line].contract for line in resolved}
    with opened.registry() as registry:
        return {line: _stated(registry, line.contract, contract.version) for line, contract in resolved.items()}


def _stated(registry: Registry | RegistryClient, name: str, version: str) -> Contract:
    return contract_from(registry.get(name, version).document, f"{name} {version} in the registry")


def find_policies(opened: OpenedProject) -> tuple[Contract, ...]:
    """Return the policies that the contracts of a project inherit from, directly or not, as far as they are found."""
    from treaty.pipeline.project.contract_files import read_contract_files, used_versions

    policies: dict[str, Contract] = {}
    missing: set[str] = set()
    with ExitStack() as stack:
        if opened.registry is not None:
            registry = stack.enter_context(opened.registry())

            def find(name: str) -> Contract:
                return _stated(registry, name, registry.lines(name)[0].current)
        else:
            folders = [Path(folder) for folder in opened.settings.parts.pipeline.contracts]
            known = used_versions(read_contract_files(folders, opened.settings.limits))

            def find(name: str) -> Contract:
                lines = [line for line in known if line.contract == name]
                if not lines:
                    raise NotFound(f"no contract {name}")
                return known[max(lines, key=lambda line: line.major)].contract

        pending = list(opened.contracts.by_line.values())
        while pending:
            parent = pending.pop().treaty.parent
            if parent is None or parent in policies or parent in missing:
                continue
            try:
                policies[parent] = find(parent)
                pending.append(policies[parent])
            except NotFound:
                missing.add(parent)
    return tuple(policies.values())


def _registry(
    settings: Settings, token_file: Path | None
) -> Callable[[], AbstractContextManager[Registry | RegistryClient]] | None:
    """Return a function that opens the configured registry, or None if its file does not exist."""
    reference = settings.parts.registry
    if not is_server_address(reference) and "://" not in reference and not Path(reference).exists():
        return None

    return lambda: open_registry(None, token_file, settings)


@contextmanager
def open_tables(settings: Settings, spark: SparkOptions) -> Iterator[Tables]:
    """Open the tables of the configured catalog for one command; warn of tables that another process has written to."""
    from treaty.cli.render.plain_text import printable
    from treaty.cli.spark_session import deferred_session
    from treaty.pipeline.tables import TableCatalog, Tables

    catalog = require_table_catalog(settings, spark)
    with deferred_session(spark) as (session, progress):
        progress.start("reading tables")
        tables = Tables(session, catalog, TableCatalog.from_options(spark))
        yield tables
    for foreign in tables.foreign_writes.values():
        typer.echo(f"warning: {printable(foreign)}", err=True)


def open_catalog(settings: Settings) -> TableCatalog:
    """Open the configured catalog without Spark; reading a table that another process has written to warns of it."""
    from treaty.cli.render.plain_text import printable
    from treaty.cli.spark_session import create_lake_folder
    from treaty.pipeline.tables import TableCatalog

    options = settings.spark()
    name = require_table_catalog(settings, options)
    if options.catalog is not None:
        create_lake_folder(options.catalog)
    catalog, warned = TableCatalog.from_options(options, name), set[str]()

    def warn(foreign: str) -> None:
        if foreign not in warned:
            warned.add(foreign)
            typer.echo(f"warning: {printable(foreign)}", err=True)

    catalog.on_foreign_write = warn
    return catalog


def require_table_catalog(settings: Settings, spark: SparkOptions) -> str:
    """Return the name of the configured Iceberg catalog; fail if there is none."""
    if spark.catalog is None:
        if settings.source is None:
            raise NotFound(
                "there is no treaty.yaml in this folder or above it; change to the folder of a project, "
                "or create one with: treaty init"
            )
        raise InvalidDocument(
            f"{settings.source} has no table catalog; set spark.iceberg.uri and spark.iceberg.warehouse"
        )
    return spark.catalog.name


def configured_retention(settings: Settings) -> Retention:
    """Return how much history of the tables is kept."""
    from treaty.pipeline.maintenance import Retention

    return Retention(settings.parts.pipeline.keep_days, settings.parts.pipeline.keep_runs)


def needed_packages(project: Project) -> frozenset[Package]:
    """Return the packages that Spark needs for the sources of a project."""
    from treaty.pipeline.project.declarations import Kafka
    from treaty.spark.jars import Package

    has_topics = any(isinstance(source.origin, Kafka) for source in project.sources)
    return frozenset({Package.KAFKA} if has_topics else ())


def run_retention(settings: Settings) -> Retention | None:
    """Return how much history a run keeps; None if runs do no housekeeping."""
    return configured_retention(settings) if settings.parts.pipeline.maintenance == "run" else None


@dataclass(frozen=True)
class _SourceNews:
    """New data per source, and the sources that could not be read."""

    arriving: dict[str, str | None]
    problems: tuple[Finding, ...]


def offline_plan(opened: OpenedProject) -> Plan:
    """Plan from the files of the project, without Spark."""
    from treaty.pipeline.plan import plan

    offline = plan(opened.project, opened.contracts.by_line)
    return replace(offline, problems=(*offline.problems, *opened.contracts.findings))


def live_plan(opened: OpenedProject) -> Plan:
    """Plan with the current tables and the new files in the sources, without Spark."""
    from treaty.cli.consumer_views import consumer_views
    from treaty.pipeline.plan import plan
    from treaty.pipeline.tables.view_states import view_states

    catalog = open_catalog(opened.settings)
    offline = plan(opened.project, opened.contracts.by_line)
    names = dict.fromkeys(table for step in offline.steps for table in (step.table, *step.reads))
    views = {view: states[0].stamp for view, states in view_states(catalog).items() if states}
    states = {table: views.get(table) or next(iter(catalog.stamps(table)), None) for table in names}
    news = _inspect_sources(opened, catalog)
    foreign = [
        Finding("foreign-write", Severity.ERROR, text) for table in names if (text := catalog.foreign_write(table))
    ]
    live = plan(
        opened.project,
        opened.contracts.by_line,
        states,
        news.arriving,
        datetime.now(UTC),
        None if opened.registry is None else consumer_views(opened.registry),
    )
    legacy = tuple(_inspect_legacy_feeds(opened, catalog))
    readers = tuple(_direct_reads(opened))
    problems = (*live.problems, *foreign, *news.problems, *legacy, *opened.contracts.findings, *readers)
    return replace(live, problems=problems)


def _direct_reads(opened: OpenedProject) -> Iterator[Finding]:
    """Yield the critical consumers that read lines or legacy feeds of the project directly, if there is a registry."""
    from treaty.cli.direct_reads import find_project_reads
    from treaty.legacy.cutover import reads_feed

    if opened.registry is None:
        return
    names = [name for feed in opened.project.legacy for name in feed.read_names]
    lines = {str(declared.line) for declared in opened.project}
    try:
        with opened.registry() as registry:
            yield from find_project_reads(registry, lines, lambda source: reads_feed(source, names))
    except (Unavailable, NotFound):
        return  # that the registry does not answer is a warning of the contracts already


def _inspect_legacy_feeds(opened: OpenedProject, catalog: TableCatalog) -> Iterator[Finding]:
    """Yield the problems of legacy feeds that are not there, have no rows or have other columns."""
    from treaty.pipeline.plan.legacy_feeds import feed_problem, find_missing_columns, find_shape_problem
    from treaty.pipeline.sources.legacy_columns import find_legacy_columns

    for feed in opened.project.legacy:
        try:
            columns = find_legacy_columns(feed, catalog)
        except NotFound as error:
            yield feed_problem(feed, "legacy-missing", str(error), "check the origin, and that the job has run")
        except InvalidDocument as error:
            yield feed_problem(feed, "legacy-empty", str(error), "check that the job has written rows")
        else:
            if columns is None:
                continue
            if problem := find_missing_columns(feed, columns):
                yield problem
            for publication in opened.project.publications:
                contract = opened.contracts.by_line[publication.line]
                if publication.emulates == feed.name and (
                    problem := find_shape_problem(publication, contract, columns)
                ):
                    yield problem


def _inspect_sources(opened: OpenedProject, catalog: TableCatalog) -> _SourceNews:
    from treaty.pipeline.sources import SeenFiles

    ledger = SeenFiles(catalog, opened.project.folder)
    arriving: dict[str, str | None] = {}
    problems: list[Finding] = []
    for source in opened.project.sources:
        try:
            arriving[source.name] = _describe_arrivals(source, opened, catalog, ledger)
        except TreatyError as error:
            arriving[source.name] = "it could not be read"
            hint = "check that the source is reachable"
            problems.append(Finding("source-unreached", Severity.WARNING, f"{source.name}: {error}", hint=hint))
    return _SourceNews(arriving, tuple(problems))


def _describe_arrivals(source: Source, opened: OpenedProject, catalog: TableCatalog, ledger: SeenFiles) -> str | None:
    """Describe what is new in a source; of new files, only the first bytes are read. Databases are left to a run."""
    from treaty.cli.render.plain_text import pluralize
    from treaty.pipeline.project.declarations import Files, Kafka, raw_table
    from treaty.pipeline.sources import ArrivalRequest, find_new_files, is_listed_by_spark

    if isinstance(source.origin, Kafka):
        return "a run asks its brokers for new records"
    if not isinstance(source.origin, Files):
        return "a run asks its database for new rows"
    if is_listed_by_spark(source.origin.pattern):
        return "a run looks for new files"
    stamps = catalog.stamps(raw_table(source.name))
    known = ledger.known_files(source.name, stamps)
    request = ArrivalRequest(0, datetime.now(UTC), known, stamps[0] if stamps else None, folder=opened.project.folder)
    new = find_new_files(None, source.origin, request).readable
    return pluralize(len(new), "new file") if new else None
