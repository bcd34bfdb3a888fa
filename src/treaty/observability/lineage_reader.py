"""Reads OpenLineage events: who read and wrote which datasets, and which fields, as far as the event says so.

Facets that are not needed here are ignored, whatever they contain, so that events of every client are accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from treaty.errors import InvalidDocument
from treaty.observability.dataset_names import DatasetName

MAX_DATASETS = 1_000
MAX_FIELDS = 20_000
MAX_LISTED_PROBLEMS = 5
CONTRACT_FACET = "treaty_contract"
"""The facet of a dataset that names its contract; Treaty's own runs write it."""

TEST_JOB = "TEST"
"""The type of jobs that test data."""


@dataclass(frozen=True)
class JobName:
    """A job, by its namespace and its name in it."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class EventInput:
    """A dataset that was read, under all its names."""

    names: tuple[DatasetName, ...]


@dataclass(frozen=True)
class EventOutput:
    """A dataset that was written, under all its names, and the input fields that its columns are computed from."""

    names: tuple[DatasetName, ...]
    columns: Mapping[str, tuple[tuple[DatasetName, str], ...]] = field(default_factory=dict)
    filters: tuple[tuple[DatasetName, str], ...] = ()
    """Input fields that decide which rows there are, such as those of joins and filters."""
    line: str | None = None
    """The line that the producer names, if it is Treaty."""

    @property
    def used_fields(self) -> Iterator[tuple[DatasetName, str]]:
        """All input fields that the event names for this output."""
        for sources in self.columns.values():
            yield from sources
        yield from self.filters


@dataclass(frozen=True)
class LineageEvent:
    """One event, as far as the registry uses it."""

    id: str
    """Identifies the event: the same run, type and time is the same event."""
    type: str
    at: datetime
    run: str | None
    job: JobName | None
    ancestors: tuple[JobName, ...] = ()
    """The jobs that started this one, nearest first."""
    team: str | None = None
    inputs: tuple[EventInput, ...] = ()
    outputs: tuple[EventOutput, ...] = ()
    is_test: bool = False
    """Whether the job tests data, such as an audit or a test of dbt; then it is no consumer."""

    @property
    def names(self) -> Iterator[DatasetName]:
        """All datasets that the event names."""
        for source in self.inputs:
            yield from source.names
        for output in self.outputs:
            yield from output.names
            yield from (dataset for dataset, _ in output.used_fields)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Identifier(_Part):
    namespace: str = Field(min_length=1, max_length=2_000)
    name: str = Field(min_length=1, max_length=4_000)

    @property
    def as_dataset(self) -> DatasetName:
        return DatasetName(_plain(self.namespace), _plain(self.name))

    @property
    def as_job(self) -> JobName:
        return JobName(_plain(self.namespace), _plain(self.name))


class _InputField(_Identifier):
    field: str = Field(min_length=1, max_length=4_000)


class _ColumnSources(_Part):
    inputFields: list[_InputField] = []  # noqa: N815 - the names of the specification


class _ColumnLineage(_Part):
    fields: dict[str, _ColumnSources] = {}
    dataset: list[_InputField] | None = None


class _Symlinks(_Part):
    identifiers: list[_Identifier] = []


class _ContractFacet(_Part):
    line: str = Field(min_length=1, max_length=300)


class _DatasetFacets(_Part):
    columnLineage: _ColumnLineage | None = None  # noqa: N815
    symlinks: _Symlinks | None = None
    treaty_contract: _ContractFacet | None = None


class _Dataset(_Identifier):
    facets: _DatasetFacets | None = None


class _Owner(_Part):
    name: str = Field(min_length=1, max_length=2_000)


class _Ownership(_Part):
    owners: list[_Owner] | None = None


class _JobType(_Part):
    jobType: str | None = None  # noqa: N815


class _JobFacets(_Part):
    ownership: _Ownership | None = None
    jobType: _JobType | None = None  # noqa: N815


class _Job(_Identifier):
    facets: _JobFacets | None = None


class _Ancestor(_Part):
    job: _Identifier


class _Parent(_Ancestor):
    root: _Ancestor | None = None


class _RunFacets(_Part):
    parent: _Parent | None = None


class _Run(_Part):
    runId: UUID  # noqa: N815
    facets: _RunFacets | None = None


class _Event(_Part):
    eventTime: datetime  # noqa: N815
    producer: str = Field(min_length=1, max_length=4_000)


class _RunEvent(_Event):
    eventType: Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] = "OTHER"  # noqa: N815
    run: _Run
    job: _Job
    inputs: list[_Dataset] | None = Field(default=None, max_length=MAX_DATASETS)
    outputs: list[_Dataset] | None = Field(default=None, max_length=MAX_DATASETS)


class _JobEvent(_Event):
    job: _Job
    inputs: list[_Dataset] | None = Field(default=None, max_length=MAX_DATASETS)
    outputs: list[_Dataset] | None = Field(default=None, max_length=MAX_DATASETS)


class _DatasetEvent(_Event):
    dataset: _Dataset


E_ = TypeVar("E_", bound=_Event)


def read_event(data: object, where: str = "the event") -> LineageEvent:
    """Read a run event, a job event or a dataset event; raise InvalidDocument with what is wrong and where."""
    if not isinstance(data, Mapping):
        raise InvalidDocument(f"{where} is not an object; send an OpenLineage event")
    if "run" in data or "eventType" in data:
        return _from_run(_parsed(_RunEvent, data, where), where)
    if "job" in data:
        return _from_job(_parsed(_JobEvent, data, where), where)
    if "dataset" in data:
        event = _parsed(_DatasetEvent, data, where)
        at = _utc(event.eventTime)
        return LineageEvent(_identity("dataset", *event.dataset.as_dataset, at.isoformat()), "DATASET", at, None, None)
    raise InvalidDocument(f"{where} has neither run, job nor dataset; send an OpenLineage event")


def _parsed(model: type[E_], data: Mapping[str, Any], where: str) -> E_:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_describe(one["loc"], one["msg"]) for one in error.errors()[:MAX_LISTED_PROBLEMS]]
        more = error.error_count() - len(problems)
        text = "; ".join(problems) + (f"; and {more:,} more" if more > 0 else "")
        raise InvalidDocument(f"{where} is not a valid OpenLineage event: {text}") from None


def _describe(place: Sequence[str | int], message: str) -> str:
    return f"{'.'.join(map(str, place))}: {message[:1].lower()}{message[1:]}"


def _from_run(event: _RunEvent, where: str) -> LineageEvent:
    at, run = _utc(event.eventTime), str(event.run.runId)
    parent = event.run.facets.parent if event.run.facets else None
    ancestors = [] if parent is None else [parent.job.as_job, *([parent.root.job.as_job] if parent.root else [])]
    return LineageEvent(
        _identity(run, event.eventType, at.isoformat()),
        event.eventType,
        at,
        run,
        event.job.as_job,
        tuple(dict.fromkeys(ancestors)),
        _team(event.job),
        tuple(EventInput(_names(dataset)) for dataset in event.inputs or ()),
        _outputs(event.outputs or (), where),
        _is_test(event.job),
    )


def _from_job(event: _JobEvent, where: str) -> LineageEvent:
    at, job = _utc(event.eventTime), event.job.as_job
    return LineageEvent(
        _identity("job", job.namespace, job.name, at.isoformat()),
        "JOB",
        at,
        None,
        job,
        (),
        _team(event.job),
        tuple(EventInput(_names(dataset)) for dataset in event.inputs or ()),
        _outputs(event.outputs or (), where),
        _is_test(event.job),
    )


def _outputs(datasets: Sequence[_Dataset], where: str) -> tuple[EventOutput, ...]:
    outputs = []
    fields = 0
    for dataset in datasets:
        facets = dataset.facets or _DatasetFacets()
        lineage = facets.columnLineage or _ColumnLineage()
        columns = {_plain(name): _sources(column.inputFields) for name, column in lineage.fields.items()}
        filters = _sources(lineage.dataset or ())
        fields += len(filters) + sum(map(len, columns.values()))
        line = facets.treaty_contract.line if facets.treaty_contract else None
        outputs.append(EventOutput(_names(dataset), columns, filters, line))
    if fields > MAX_FIELDS:
        raise InvalidDocument(f"{where} names {fields:,} input fields; an event has {MAX_FIELDS:,} at most")
    return tuple(outputs)


def _sources(fields: Sequence[_InputField]) -> tuple[tuple[DatasetName, str], ...]:
    return tuple((one.as_dataset, _plain(one.field)) for one in fields)


def _names(dataset: _Dataset) -> tuple[DatasetName, ...]:
    symlinks = dataset.facets.symlinks if dataset.facets else None
    others = symlinks.identifiers if symlinks else ()
    return tuple(dict.fromkeys((dataset.as_dataset, *(other.as_dataset for other in others))))


def _is_test(job: _Job) -> bool:
    kind = job.facets.jobType if job.facets else None
    return kind is not None and (kind.jobType or "").upper() == TEST_JOB


def _team(job: _Job) -> str | None:
    """Return the first owner of a job; owners are often written as `team:growth`."""
    ownership = job.facets.ownership if job.facets else None
    owners = (ownership.owners or []) if ownership else []
    return _plain(owners[0].name).removeprefix("team:") if owners else None


def _utc(at: datetime) -> datetime:
    """Return a time in UTC; clients that write no time zone mean UTC."""
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        raise InvalidDocument(f"the event time {at.isoformat()} is beyond the calendar") from None


def _identity(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _plain(text: str) -> str:
    """Return a text without characters that databases cannot store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
