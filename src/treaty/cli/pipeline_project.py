"""Opening a pipeline's project for a command: what it declares, its contracts and its settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.progress import told_steps
from treaty.cli.registry_connection import is_address, opened
from treaty.contracts.findings import Finding, Severity
from treaty.errors import InvalidDocument, TreatyError
from treaty.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from treaty.pipeline.plan import Plan
    from treaty.pipeline.project.contract_resolution import ContractsUsed
    from treaty.pipeline.project.declarations import Project, Source
    from treaty.pipeline.tables import Tables
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry
    from treaty.spark.session_options import SparkOptions


@dataclass(frozen=True)
class OpenedProject:
    """A project that a command works on."""

    project: Project
    contracts: ContractsUsed
    settings: Settings
    registry: Callable[[], AbstractContextManager[Registry | RegistryClient]] | None = None
    """Opens the registry that is set, if there is one."""


def open_project(folder: Path, config: Path | None, token_file: Path | None = None) -> OpenedProject:
    """Read a project and find its contracts: in the registry that is set, else in its folders."""
    from treaty.pipeline.project import read_project
    from treaty.pipeline.project.contract_resolution import OnRegistryDown, contracts_used

    settings = load_settings(config, start=folder)
    project = read_project(folder, settings.limits)
    pipeline = settings.parts.pipeline
    registry = _registry(settings, token_file)
    contracts = contracts_used(
        project,
        [Path(one) for one in pipeline.contracts],
        registry,
        OnRegistryDown(pipeline.on_registry_down),
        settings.limits,
    )
    return OpenedProject(project, contracts, settings, registry)


def _registry(
    settings: Settings, token_file: Path | None
) -> Callable[[], AbstractContextManager[Registry | RegistryClient]] | None:
    """Return how the registry is opened; a file that is not there is none."""
    named = settings.parts.registry
    if not is_address(named) and "://" not in named and not Path(named).exists():
        return None

    return lambda: opened(None, token_file, settings)


@contextmanager
def opened_tables(settings: Settings, spark: SparkOptions) -> Iterator[Tables]:
    """Open the tables in the catalog that is set."""
    from treaty.pipeline.tables import Tables
    from treaty.spark.session import active_session, spark_session

    if spark.catalog is None:
        where = settings.source or "treaty.yaml"
        raise InvalidDocument(f"{where} names no catalog of tables; set spark.iceberg.uri and spark.iceberg.warehouse")
    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(spark)
        try:
            steps.tell("looking at tables")
            yield Tables(session, spark.catalog.name)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()


@dataclass(frozen=True)
class _Seen:
    """What is new in the sources, and those that could not be looked at."""

    arriving: dict[str, str | None]
    problems: tuple[Finding, ...]


def offline_plan(opened: OpenedProject) -> Plan:
    """Plan from the files of the project alone."""
    from treaty.pipeline.plan import plan

    made = plan(opened.project, opened.contracts.by_line)
    return replace(made, problems=(*made.problems, *opened.contracts.findings))


def full_plan(opened: OpenedProject, spark: SparkOptions) -> Plan:
    """Plan with the tables as they are, what is new in the sources, and what Spark says of the queries."""
    from treaty.pipeline.plan import plan, typed_problems

    with opened_tables(opened.settings, spark) as tables:
        first = plan(opened.project, opened.contracts.by_line)
        named = dict.fromkeys(table for step in first.steps for table in (step.table, *step.reads))
        states = {table: tables.stamp(table) for table in named}
        seen = _looked_at(opened, tables)
        made = plan(opened.project, opened.contracts.by_line, states, seen.arriving)
        refused = {one.place.source for one in made.errors if one.place}
        typed = [
            finding
            for step in made.steps
            if not any(str(asked.sql.path) in refused for asked in step.queries)
            for finding in typed_problems(tables.spark, step)
        ]
    return replace(made, problems=(*made.problems, *typed, *seen.problems, *opened.contracts.findings))


def _looked_at(opened: OpenedProject, tables: Tables) -> _Seen:
    arriving: dict[str, str | None] = {}
    problems: list[Finding] = []
    for source in opened.project.sources:
        try:
            arriving[source.name] = _new_in(source, tables, opened.settings.secrets.jdbc_password)
        except TreatyError as error:
            arriving[source.name] = "it could not be looked at"
            problems.append(Finding("source-unreached", Severity.WARNING, f"{source.name}: {error}", hint="see to it"))
    return _Seen(arriving, tuple(problems))


def _new_in(source: Source, tables: Tables, password: str | None) -> str | None:
    from treaty.cli.render.tables import count
    from treaty.pipeline.project.declarations import Files
    from treaty.pipeline.project.table_names import raw_table
    from treaty.pipeline.sources import Asking, arrivals, known_files

    asking = Asking(
        0, datetime.now(UTC), known_files(tables, source.name), tables.stamp(raw_table(source.name)), password
    )
    found = arrivals(tables.spark, source, asking)
    if found.rows is None:
        return None
    return count(found.new, "new file") if isinstance(source.origin, Files) else "new rows"
