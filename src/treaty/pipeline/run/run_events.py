"""The OpenLineage events of a run: what each step read and wrote, by column, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from treaty.errors import InvalidDocument
from treaty.observability.dataset_names import DatasetName, file_dataset
from treaty.observability.lineage_events import (
    Ending,
    RuleRecord,
    RunRecord,
    StepRecord,
    TableRecord,
    end_of_run,
    start_of_run,
    step_events,
)
from treaty.pipeline.plan.change_feeds import is_change_feed
from treaty.pipeline.plan.contract_lineage import filters_by_column, row_filters
from treaty.pipeline.plan.planner import Plan
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Files, Kafka, Layer, Source
from treaty.pipeline.run.summary import Outcome, RunSummary, StepSummary
from treaty.spark.measures import RuleMeasure
from treaty.sql.lineage import Origin

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

Locate = Callable[[str], DatasetName]
"""Returns the dataset of a table, such as `products.orders`."""

_PLATFORM_PREFIX = "_"


def tables_below(warehouse: str, namespace: str = "") -> Locate:
    """Return where the tables of a warehouse are: below its folder, by namespace and name."""
    root = warehouse.rstrip("/")
    within = [part for part in namespace.split(".") if part]

    def locate(table: str) -> DatasetName:
        return file_dataset("/".join([root, *within, *table.split(".")]))

    return locate


def run_started(namespace: str, project: str, started_at: datetime) -> list[RunEvent]:
    """Return the events of a run that starts."""
    return [start_of_run(RunRecord(namespace, project, started_at))]


def run_failed(namespace: str, project: str, started_at: datetime, ended_at: datetime, error: str) -> list[RunEvent]:
    """Return the events of a run that failed before any step."""
    return [end_of_run(RunRecord(namespace, project, started_at), ended_at, Ending.FAIL, error)]


def run_ended(namespace: str, plan: Plan, summary: RunSummary, locate: Locate) -> list[RunEvent]:
    """Return the events of the steps of a run, and of its end; skipped steps did not run."""
    run = RunRecord(namespace, summary.project, summary.started_at)
    events = list(step_events(run, _records(plan, summary, locate)))
    ended_at = summary.started_at + timedelta(seconds=summary.seconds)
    failed = "; ".join(f"{step.table}: {step.outcome}" for step in summary.unsuccessful)
    ending = Ending.COMPLETE if summary.succeeded else Ending.FAIL
    return [*events, end_of_run(run, ended_at, ending, failed or None)]


def _records(plan: Plan, summary: RunSummary, locate: Locate) -> Iterator[StepRecord]:
    steps = {step.table: step for step in plan.steps}
    for ended in summary.steps:
        step = steps.get(ended.table)
        if step is not None and ended.outcome is not Outcome.SKIPPED:
            yield _record(plan, step, ended, summary.started_at, locate)


def _record(plan: Plan, step: Step, ended: StepSummary, run_started_at: datetime, locate: Locate) -> StepRecord:
    by_table = {one.table: one for one in plan.steps}
    started_at = ended.started_at or run_started_at
    tables = {one.name: locate(one.table) for one in plan.steps if one.layer is not Layer.RAW}
    columns, filters = _column_lineage(plan, step, tables)
    return StepRecord(
        name=step.table,
        started_at=started_at,
        ended_at=started_at + timedelta(seconds=ended.seconds),
        ending=Ending.COMPLETE if ended.outcome.is_good else Ending.FAIL,
        output=_table(step, locate),
        inputs=(*_sources(step), *(_table(by_table[name], locate) for name in step.reads if name in by_table)),
        columns=columns,
        filters=filters,
        rows_written=_rows_written(ended) if ended.outcome is Outcome.DONE else 0,
        rules=tuple(map(_rule, ended.rules)),
        source_code="\n;\n".join(query.sql.text for query in step.queries) or None,
        error="\n".join(ended.reasons) or None,
    )


def _table(step: Step, locate: Locate) -> TableRecord:
    """Return the table of a step; raw rows are stored as they arrive, under no contract."""
    contract = None if step.layer is Layer.RAW else step.contract
    return TableRecord(locate(step.table), contract, is_change_feed(step.declared))


def _sources(step: Step) -> Iterator[TableRecord]:
    """Return where a raw step reads from."""
    declared = step.declared
    if step.layer is not Layer.RAW or not isinstance(declared, Source):
        return
    if isinstance(declared.origin, Files):
        yield TableRecord(file_dataset(declared.origin.pattern))
    elif isinstance(declared.origin, Kafka):
        broker = declared.origin.bootstrap.partition(",")[0]
        yield TableRecord(DatasetName(f"kafka://{broker}", declared.origin.topics))
    else:
        address = urlsplit(declared.origin.url.removeprefix("jdbc:"))
        scheme = {"postgresql": "postgres"}.get(address.scheme, address.scheme)
        database = address.path.strip("/")
        if address.hostname is None:  # a file, as of SQLite
            yield TableRecord(DatasetName("file", f"{database or address.path}.{declared.origin.table}"))
            return
        port = f":{address.port}" if address.port else ""
        namespace = f"{scheme}://{address.hostname}{port}"  # without user and password
        yield TableRecord(DatasetName(namespace, ".".join(part for part in (database, declared.origin.table) if part)))


_Lineage = tuple[Mapping[str, tuple[tuple[DatasetName, str], ...]], tuple[tuple[DatasetName, str], ...]]


def _column_lineage(plan: Plan, step: Step, tables: Mapping[str, DatasetName]) -> _Lineage:
    """Return the input fields of each column of a step, and those that decide which rows there are."""
    lineage = plan.lineage.get(step.name)
    if lineage is None or isinstance(step.declared, Source):
        return {}, ()
    try:
        filters = row_filters(plan, step).union(*filters_by_column(step).values())
    except InvalidDocument:
        filters = frozenset()
    columns = {name: _fields(sources, tables) for name, sources in lineage.items() if not _is_platform(name)}
    return {name: sources for name, sources in columns.items() if sources}, _fields(filters, tables)


def _fields(origins: Iterable[Origin], tables: Mapping[str, DatasetName]) -> tuple[tuple[DatasetName, str], ...]:
    return tuple(
        sorted(
            (tables[origin.input], origin.column)
            for origin in origins
            if origin.input in tables and not _is_platform(origin.column)
        )
    )


def _is_platform(column: str) -> bool:
    return column.startswith(_PLATFORM_PREFIX)


def _rows_written(ended: StepSummary) -> int:
    counts = ended.counts
    written = counts.accepted + counts.valid + counts.resolved + counts.published
    return written or (counts.rows_in if ended.layer == Layer.RAW else 0)


def _rule(result: RuleMeasure) -> RuleRecord:
    rule = result.rule
    actual: Any = result.value if result.violating_rows is None else result.violating_rows
    return RuleRecord(
        rule=rule.id,
        kind=rule.kind.value,
        passed=result.passed,
        severity="error" if rule.severity.value == "error" else "warn",
        column=rule.field or None,
        requirement=rule.requirement,
        expected="0 rows" if rule.threshold.tolerates_none else str(rule.threshold),
        actual=None if actual is None else str(actual),
    )
