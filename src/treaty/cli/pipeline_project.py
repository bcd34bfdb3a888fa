"""The pipeline project of a command: its declarations, contracts, settings, tables and plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.registry_connection import is_server_address, open_registry
from treaty.contracts.findings import Finding, Severity
from treaty.errors import InvalidDocument, TreatyError
from treaty.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from treaty.pipeline.plan import Plan
    from treaty.pipeline.project.contract_resolution import ResolvedContracts
    from treaty.pipeline.project.declarations import Project, Source
    from treaty.pipeline.tables import Tables
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.spark.session_options import SparkOptions


@dataclass(frozen=True)
class OpenedProject:
    """A project with its contracts and settings."""

    project: Project
    contracts: ResolvedContracts
    settings: Settings
    registry: Callable[[], AbstractContextManager[Registry | RegistryClient]] | None = None
    """Opens the configured registry; None if there is no registry."""


def open_project(folder: Path, config: Path | None, token_file: Path | None = None) -> OpenedProject:
    """Read a project and find its contracts, in the configured registry or else in its folders."""
    from treaty.pipeline.project import read_project
    from treaty.pipeline.project.contract_resolution import OnRegistryDown, resolve_contracts

    settings = load_settings(config, start=folder)
    project = read_project(folder, settings.limits)
    pipeline = settings.parts.pipeline
    registry = _registry(settings, token_file)
    contracts = resolve_contracts(
        project,
        [Path(folder) for folder in pipeline.contracts],
        registry,
        OnRegistryDown(pipeline.on_registry_down),
        settings.limits,
    )
    return OpenedProject(project, contracts, settings, registry)


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
    """Open the tables of the configured catalog for one command."""
    from treaty.cli.spark_session import command_session
    from treaty.pipeline.tables import Tables

    catalog = require_table_catalog(settings, spark)
    with command_session(spark) as (session, progress):
        progress.start("reading tables")
        yield Tables(session, catalog)


def require_table_catalog(settings: Settings, spark: SparkOptions) -> str:
    """Return the name of the configured Iceberg catalog; fail if there is none."""
    if spark.catalog is None:
        file = settings.source or "treaty.yaml"
        raise InvalidDocument(f"{file} has no table catalog; set spark.iceberg.uri and spark.iceberg.warehouse")
    return spark.catalog.name


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


def live_plan(opened: OpenedProject, spark: SparkOptions) -> Plan:
    """Plan with the current tables, the new data in the sources, and the column types that Spark reports."""
    from treaty.pipeline.plan import find_type_problems, plan

    with open_tables(opened.settings, spark) as tables:
        offline = plan(opened.project, opened.contracts.by_line)
        names = dict.fromkeys(table for step in offline.steps for table in (step.table, *step.reads))
        states = {table: tables.stamp(table) for table in names}
        news = _inspect_sources(opened, tables)
        live = plan(opened.project, opened.contracts.by_line, states, news.arriving)
        refused = {error.place.source for error in live.errors if error.place}
        typed = [
            finding
            for step in live.steps
            if not any(str(query.sql.path) in refused for query in step.queries)
            for finding in find_type_problems(tables.spark, step)
        ]
    return replace(live, problems=(*live.problems, *typed, *news.problems, *opened.contracts.findings))


def _inspect_sources(opened: OpenedProject, tables: Tables) -> _SourceNews:
    arriving: dict[str, str | None] = {}
    problems: list[Finding] = []
    for source in opened.project.sources:
        try:
            arriving[source.name] = _describe_arrivals(source, tables, opened.settings.secrets.jdbc_password)
        except TreatyError as error:
            arriving[source.name] = "it could not be read"
            hint = "check that the source is reachable"
            problems.append(Finding("source-unreached", Severity.WARNING, f"{source.name}: {error}", hint=hint))
    return _SourceNews(arriving, tuple(problems))


def _describe_arrivals(source: Source, tables: Tables, password: str | None) -> str | None:
    from treaty.cli.render.plain_text import pluralize
    from treaty.pipeline.project.declarations import Files, raw_table
    from treaty.pipeline.sources import ArrivalRequest, known_files, read_arrivals

    asking = ArrivalRequest(
        0, datetime.now(UTC), known_files(tables, source.name), tables.stamp(raw_table(source.name)), password
    )
    arrivals = read_arrivals(tables.spark, source, asking)
    if arrivals.rows is None:
        return None
    return pluralize(arrivals.new, "new file") if isinstance(source.origin, Files) else "new rows"
