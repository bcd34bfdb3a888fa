"""The tables of a project for the pages of a server. They are opened with the first request that needs them."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from treaty.catalog.project_data import (
    Cell,
    Dataset,
    ExceptionPage,
    ExceptionQuery,
    ExceptionRow,
    ProjectData,
    Quarantine,
    QuarantinedRow,
    Reason,
)
from treaty.cli.pipeline_project import open_catalog, open_tables, require_table_catalog
from treaty.errors import NotFound
from treaty.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from treaty.pipeline.exceptions import ExceptionAnswer
    from treaty.pipeline.project.declarations import Project
    from treaty.pipeline.quarantine import QuarantinedRow as StoredRow
    from treaty.pipeline.tables import TableCatalog, Tables


def open_project_data(folder: Path, config: Path | None = None) -> ProjectTables:
    """Return the tables of the project in a folder.

    Its settings and declarations are read and checked at once; the catalog is opened later.
    """
    from treaty.pipeline.project import read_project

    settings = load_settings(config, start=folder)
    project = read_project(folder, settings.limits)
    require_table_catalog(settings, settings.spark())

    def open_spark() -> AbstractContextManager[Tables]:
        from treaty.cli.spark_session import spark_options

        return open_tables(settings, spark_options(settings.spark(), None, None))

    return ProjectTables(project, lambda: open_catalog(settings), open_spark)


class ProjectTables(ProjectData):
    """The tables of a project, read without Spark; only accepting an exception uses Spark.

    The catalog is opened with the first use, after the worker processes of a server were started.
    """

    def __init__(
        self,
        project: Project,
        open_catalog: Callable[[], TableCatalog],
        open_spark: Callable[[], AbstractContextManager[Tables]],
    ) -> None:
        self._project = project
        self._open_catalog = open_catalog
        self._open_spark = open_spark
        self._lock = RLock()

    @cached_property
    def _catalog(self) -> TableCatalog:
        return self._open_catalog()

    def reconciliations(self) -> tuple[Dataset, ...]:
        """Return the reconciliations that have run."""
        from treaty.pipeline.exceptions.exception_rows import find_reconciliations

        with self._lock:
            existing = {found.name for found in find_reconciliations(self._catalog)}
            declared = self._project.reconciliations
        return tuple(Dataset(one.name, one.line.contract) for one in declared if one.name in existing)

    def sources(self) -> tuple[Dataset, ...]:
        """Return the sources with a table of events."""
        from treaty.pipeline.quarantine.event_quarantine import list_sources

        with self._lock:
            existing = set(list_sources(self._catalog))
            declared = self._project.sources
        return tuple(Dataset(one.name, one.line.contract) for one in declared if one.name in existing)

    def exceptions(
        self, query: ExceptionQuery, now: datetime, *, cursor: str | None = None, limit: int = 50
    ) -> ExceptionPage:
        """List exceptions, the oldest first."""
        from treaty.pipeline.exceptions import ExceptionFilter, list_exceptions

        filters = ExceptionFilter(query.reconciliation, query.state, query.reason_class, query.owner, query.older_than)
        with self._lock:
            page = list_exceptions(self._catalog, filters, now, cursor=cursor, limit=limit)
        return ExceptionPage(tuple(map(_exception, page.items)), page.next)

    def find_exception(self, reconciliation: str, key: str, assertion: str, now: datetime) -> ExceptionRow:
        """Return one exception; raise NotFound if there is none."""
        from treaty.pipeline.exceptions.exception_rows import find_reconciliations, stored_exceptions, to_exception

        with self._lock:
            (tables,) = find_reconciliations(self._catalog, reconciliation)
            for row in stored_exceptions(self._catalog, tables, {"assertion": (assertion,)}):
                if row["key"] == key:
                    return _exception(to_exception(row, now))
        raise NotFound(f"{key[:80]!r} has no exception {assertion[:80]!r} in {reconciliation}")

    def accept_exception(self, row: ExceptionRow, *, reason: str, actor: str, now: datetime) -> None:
        """Accept an open exception with Spark, in this process."""
        from treaty.pipeline.exceptions import accept_exception

        with self._lock, self._open_spark() as tables:
            accept_exception(
                tables,
                row.key,
                row.assertion,
                reason=reason,
                actor=actor,
                now=now,
                reconciliation=row.reconciliation,
            )

    def quarantine(self, source: str, *, rule: str | None = None, limit: int = 50) -> Quarantine:
        """Return the quarantined rows of a source; with a rule, only those that violate it."""
        from treaty.pipeline.quarantine import EventQuarantine
        from treaty.pipeline.quarantine.quarantined_rows import count_reasons

        with self._lock:
            events = EventQuarantine.find(self._catalog, source)
            total, reasons = count_reasons(events.violations())
            rows = tuple(map(_row, events.rows(limit, rule)))
        return Quarantine(total, tuple(Reason(one.rule, one.message, one.rows, one.values) for one in reasons), rows)


def _exception(answer: ExceptionAnswer) -> ExceptionRow:
    return ExceptionRow(
        answer.reconciliation,
        answer.key,
        answer.assertion,
        answer.reason_class,
        answer.statement,
        answer.claims,
        answer.owner,
        answer.state,
        answer.first_seen,
        answer.last_seen,
        answer.age_seconds,
        answer.accepted_by,
        answer.accepted_reason,
    )


def _row(row: StoredRow) -> QuarantinedRow:
    from treaty.pipeline.quarantine.quarantined_rows import describe_violation

    cells = tuple(
        Cell(name, value, tuple(violation.message for violation in row.problems_of(name)))
        for name, value in row.cells.items()
    )
    return QuarantinedRow(cells, tuple(map(describe_violation, row.violations)), row.place, row.run, row.original)
