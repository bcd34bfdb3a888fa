"""Planning a project from the command line: with Spark at hand, its tables, sources and types are looked at too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from treaty.cli.projects import OpenedProject
from treaty.contracts.findings import Finding, Severity
from treaty.errors import TreatyError

if TYPE_CHECKING:
    from treaty.pipeline.declarations import Source
    from treaty.pipeline.planning import Plan
    from treaty.pipeline.tables import Tables
    from treaty.spark.options import SparkOptions


@dataclass(frozen=True)
class _Seen:
    """What is new in the sources, and those that could not be looked at."""

    arriving: dict[str, str | None]
    problems: tuple[Finding, ...]


def offline_plan(opened: OpenedProject) -> Plan:
    """Plan from the files of the project alone."""
    from treaty.pipeline.planning import plan

    made = plan(opened.project, opened.contracts.by_line)
    return replace(made, problems=(*made.problems, *opened.contracts.findings))


def full_plan(opened: OpenedProject, spark: SparkOptions) -> Plan:
    """Plan with the tables as they are, what is new in the sources, and what Spark says of the queries."""
    from treaty.cli.tables import opened_tables
    from treaty.pipeline.planning import plan, typed_problems

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
    from treaty.cli.drawing.grids import count
    from treaty.pipeline.declarations import Files
    from treaty.pipeline.planning.tables import raw_table
    from treaty.pipeline.sources import Asking, arrivals, known_files

    asking = Asking(
        0, datetime.now(UTC), known_files(tables, source.name), tables.stamp(raw_table(source.name)), password
    )
    found = arrivals(tables.spark, source, asking)
    if found.rows is None:
        return None
    return count(found.new, "new file") if isinstance(source.origin, Files) else "new rows"
