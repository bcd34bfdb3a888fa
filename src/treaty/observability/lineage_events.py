"""OpenLineage events of pipeline runs, built with the classes of `openlineage-python`.

A run of a project is a run of the job with its name; each step is a job of its own with that run as its parent. The
audit of a step is a job of the type TEST that reads the table of the step and states the result of every rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import attr
from openlineage.client import facet_v2 as facets
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.generated.base import DatasetFacet, InputDatasetFacet, JobFacet, OutputDatasetFacet, RunFacet
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_static_uuid

from treaty.consumers.dependencies import CHANGE_FEED_LABEL
from treaty.contracts.model import Contract, Field
from treaty.observability.dataset_names import TREATY_NAMESPACE, DatasetName
from treaty.observability.lineage_reader import CONTRACT_FACET, TEST_JOB

PRODUCER = "urn:treaty"
CONTRACT_FACET_SCHEMA = "urn:treaty:facets:contract:1"
MAX_SOURCE_LENGTH = 50_000
MAX_ERROR_LENGTH = 4_000


@attr.define
class DeprecationNotice:
    """The end of a line, as far as it is announced."""

    announced: str | None = None
    sunset: str | None = None
    replacement: str | None = None
    guide: str | None = None


@attr.define
class ContractDatasetFacet(DatasetFacet):
    """The contract that a dataset is under, and the warning that belongs to it."""

    contract: str
    version: str
    line: str
    status: str | None = None
    deprecation: DeprecationNotice | None = None

    @staticmethod
    def _get_schema() -> str:
        return CONTRACT_FACET_SCHEMA


class Ending(StrEnum):
    """How a run of a job ended."""

    COMPLETE = "COMPLETE"
    FAIL = "FAIL"


@dataclass(frozen=True)
class TableRecord:
    """A dataset, with its contract if its rows are under one."""

    dataset: DatasetName
    contract: Contract | None = None
    is_change_feed: bool = False
    """Whether its rows are the changes of a database table, which no business contract describes."""


@dataclass(frozen=True)
class RuleRecord:
    """The result of one rule of a contract."""

    rule: str
    kind: str
    passed: bool
    severity: str
    column: str | None = None
    requirement: str | None = None
    expected: str | None = None
    actual: str | None = None


@dataclass(frozen=True)
class StepRecord:
    """One step of a run: what it read and wrote, and how it ended."""

    name: str
    started_at: datetime
    ended_at: datetime
    ending: Ending
    output: TableRecord
    inputs: tuple[TableRecord, ...] = ()
    columns: Mapping[str, tuple[tuple[DatasetName, str], ...]] = field(default_factory=dict)
    """The input fields that each column is computed from."""
    filters: tuple[tuple[DatasetName, str], ...] = ()
    """The input fields that decide which rows there are."""
    rows_written: int | None = None
    rules: tuple[RuleRecord, ...] = ()
    source_code: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class RunRecord:
    """A run of a project, so far or ended."""

    namespace: str
    project: str
    started_at: datetime

    @property
    def id(self) -> str:
        """The id of the run, which is the same whenever its events are built."""
        return run_id(self.namespace, self.project, self.started_at)


def run_id(namespace: str, job: str, started_at: datetime) -> str:
    """Return the id of a run of a job."""
    return str(generate_static_uuid(started_at, f"{namespace}/{job}".encode()))


def start_of_run(run: RunRecord) -> RunEvent:
    """Return the event of a run that starts."""
    return _event(RunState.START, run.started_at, run.id, _job(run.namespace, run.project, "PROJECT"))


def end_of_run(run: RunRecord, ended_at: datetime, ending: Ending, error: str | None = None) -> RunEvent:
    """Return the event of a run that ended."""
    job = _job(run.namespace, run.project, "PROJECT")
    return _event(RunState(ending.value), ended_at, run.id, job, run_facets=_error_facets(error))


def step_events(run: RunRecord, steps: Iterable[StepRecord]) -> Iterator[RunEvent]:
    """Return the events of the steps of a run: start and end of each, and of its audit."""
    for step in steps:
        yield from _events_of_step(run, step)
        if step.rules:
            yield from _events_of_audit(run, step)


def as_data(events: Sequence[RunEvent]) -> list[dict[str, Any]]:
    """Return events as JSON data."""
    return [Serde.to_dict(event) for event in events]


def _events_of_step(run: RunRecord, step: StepRecord) -> Iterator[RunEvent]:
    name = f"{run.project}.{step.name}"
    identity = run_id(run.namespace, name, run.started_at)
    job = _job(run.namespace, name, "STEP", step.source_code)
    parent = _parent_facets(run)
    inputs = [InputDataset(*table.dataset, facets=_table_facets(table)) for table in step.inputs]
    yield _event(RunState.START, step.started_at, identity, job, run_facets=parent)
    yield _event(
        RunState(step.ending.value),
        step.ended_at,
        identity,
        job,
        inputs=inputs,
        outputs=[_output(step)],
        run_facets={**parent, **_error_facets(step.error)},
    )


def _events_of_audit(run: RunRecord, step: StepRecord) -> Iterator[RunEvent]:
    name = f"{run.project}.{step.name}.audit"
    identity = run_id(run.namespace, name, run.started_at)
    job = _job(run.namespace, name, TEST_JOB)
    parent = _parent_facets(run)
    table = step.output
    results: dict[str, InputDatasetFacet] = {
        "dataQualityAssertions": facets.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
            assertions=[_assertion(rule) for rule in step.rules], producer=PRODUCER
        ),
        "dataQualityMetrics": facets.data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
            columnMetrics={}, rowCount=step.rows_written, producer=PRODUCER
        ),
    }
    audited = InputDataset(*table.dataset, facets=_table_facets(table), inputFacets=results)
    yield _event(RunState.START, step.ended_at, identity, job, run_facets=parent)
    yield _event(RunState.COMPLETE, step.ended_at, identity, job, inputs=[audited], run_facets=parent)


def _assertion(rule: RuleRecord) -> facets.data_quality_assertions_dataset.Assertion:
    return facets.data_quality_assertions_dataset.Assertion(
        assertion=rule.kind,
        success=rule.passed,
        column=rule.column,
        severity=rule.severity,
        name=rule.rule,
        description=rule.requirement,
        expected=rule.expected,
        actual=rule.actual,
    )


def _output(step: StepRecord) -> OutputDataset:
    described = _table_facets(step.output)
    if step.columns or step.filters:
        described["columnLineage"] = facets.column_lineage_dataset.ColumnLineageDatasetFacet(
            fields={
                column: facets.column_lineage_dataset.Fields(inputFields=_input_fields(sources))
                for column, sources in step.columns.items()
            },
            dataset=_input_fields(step.filters),
            producer=PRODUCER,
        )
    statistics: dict[str, OutputDatasetFacet] = {}
    if step.rows_written is not None and step.ending is Ending.COMPLETE:
        statistics["outputStatistics"] = facets.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
            rowCount=step.rows_written, producer=PRODUCER
        )
        described["dataQualityMetrics"] = facets.data_quality_metrics_dataset.DataQualityMetricsDatasetFacet(
            columnMetrics={}, rowCount=step.rows_written, producer=PRODUCER
        )
    return OutputDataset(*step.output.dataset, facets=described, outputFacets=statistics)


def _input_fields(
    sources: Iterable[tuple[DatasetName, str]],
) -> list[facets.column_lineage_dataset.InputField]:
    return [
        facets.column_lineage_dataset.InputField(dataset.namespace, dataset.name, name)
        for dataset, name in sorted(sources)
    ]


def _table_facets(table: TableRecord) -> dict[str, DatasetFacet]:
    """Return the facets of a dataset under a contract: its schema, its contract, and its line as another name."""
    contract = table.contract
    if contract is None:
        return _feed_facets(table)
    line = contract.line or contract.id
    described: dict[str, DatasetFacet] = {
        "schema": facets.schema_dataset.SchemaDatasetFacet(
            fields=[_schema_field(item) for schema in contract.schema for item in schema.fields], producer=PRODUCER
        ),
        CONTRACT_FACET: ContractDatasetFacet(
            contract.id, contract.version, line, contract.status, _deprecation(contract), producer=PRODUCER
        ),
    }
    if table.dataset.namespace != TREATY_NAMESPACE:
        identifier = facets.symlinks_dataset.Identifier(namespace=TREATY_NAMESPACE, name=line, type="TABLE")
        described["symlinks"] = facets.symlinks_dataset.SymlinksDatasetFacet(
            identifiers=[identifier], producer=PRODUCER
        )
    return described | _feed_facets(table)


def _feed_facets(table: TableRecord) -> dict[str, DatasetFacet]:
    """Return the description of a change feed."""
    if not table.is_change_feed:
        return {}
    description = facets.documentation_dataset.DocumentationDatasetFacet(
        description=CHANGE_FEED_LABEL, producer=PRODUCER
    )
    return {"documentation": description}


def _schema_field(item: Field) -> facets.schema_dataset.SchemaDatasetFacetFields:
    inside = [*(item.properties or ()), *(child for _, child in item.children)]
    return facets.schema_dataset.SchemaDatasetFacetFields(
        name=item.name or "_element",
        type=item.logical_type or item.physical_type,
        description=item.description,
        fields=[_schema_field(child) for child in inside],
    )


def _deprecation(contract: Contract) -> DeprecationNotice | None:
    notice = contract.treaty.deprecation
    if notice is None:
        return None
    announced, sunset = (str(day) if day is not None else None for day in (notice.announced, notice.sunset_date))
    return DeprecationNotice(announced, sunset, notice.replacement, notice.migration_guide)


def _job(namespace: str, name: str, kind: str, source_code: str | None = None) -> Job:
    described: dict[str, JobFacet] = {
        "jobType": facets.job_type_job.JobTypeJobFacet(
            processingType="BATCH", integration="TREATY", jobType=kind, producer=PRODUCER
        )
    }
    if source_code:
        described["sourceCode"] = facets.source_code_job.SourceCodeJobFacet(
            language="SQL", sourceCode=source_code[:MAX_SOURCE_LENGTH], producer=PRODUCER
        )
    return Job(namespace, name, described)


def _parent_facets(run: RunRecord) -> dict[str, RunFacet]:
    parent = facets.parent_run
    return {
        "parent": parent.ParentRunFacet(
            run=parent.Run(run.id),
            job=parent.Job(run.namespace, run.project),
            root=parent.Root(run=parent.RootRun(run.id), job=parent.RootJob(run.namespace, run.project)),
            producer=PRODUCER,
        )
    }


def _error_facets(error: str | None) -> dict[str, RunFacet]:
    if not error:
        return {}
    return {
        "errorMessage": facets.error_message_run.ErrorMessageRunFacet(
            message=error[:MAX_ERROR_LENGTH], programmingLanguage="SQL", producer=PRODUCER
        )
    }


def _event(
    state: RunState,
    at: datetime,
    identity: str,
    job: Job,
    *,
    inputs: list[InputDataset] | None = None,
    outputs: list[OutputDataset] | None = None,
    run_facets: dict[str, RunFacet] | None = None,
) -> RunEvent:
    return RunEvent(
        eventType=state,
        eventTime=at.isoformat(),
        run=Run(identity, run_facets or {}),
        job=job,
        inputs=inputs or [],
        outputs=outputs or [],
        producer=PRODUCER,
    )
