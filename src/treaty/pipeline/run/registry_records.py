"""What a run records in the registry: measures by contract, and lineage by field.

A run never fails because they could not be recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from treaty.consumers.dependencies import MadeFrom
from treaty.errors import NotFound
from treaty.events.drift import Profile
from treaty.observability import Measure
from treaty.pipeline.plan.contract_lineage import contract_lineage, data_layers
from treaty.pipeline.plan.planner import Plan
from treaty.pipeline.run.step_measures import bounded, measure_steps
from treaty.pipeline.run.summary import RunSummary, StepSummary

if TYPE_CHECKING:
    from treaty.registry.model import RecordedAnswer

MAX_MEASURES_PER_REQUEST = 1_000


class _Measures(Protocol):
    def record(self, measures: Sequence[Measure]) -> RecordedAnswer: ...


class _Consumers(Protocol):
    def record_lineage(
        self, line: str, upstreams: Sequence[MadeFrom] | None, *, layer: str | None = None
    ) -> object: ...


class _Governance(Protocol):
    def record_erasure(self, line: str, *, fields: Sequence[str], rows: int, tables: Sequence[str]) -> object: ...


class _Drift(Protocol):
    def record(self, line: str, profile: Profile) -> object: ...


class ProfileStore(Protocol):
    """A registry that records profiles of events, local or over HTTP."""

    @property
    def drift(self) -> _Drift:
        """The profiles and findings of the registry."""
        ...


class MeasureStore(Protocol):
    """A registry that records measures, local or over HTTP."""

    @property
    def measures(self) -> _Measures:
        """The measures of the registry."""
        ...


class LineageStore(Protocol):
    """A registry that records lineage, local or over HTTP."""

    @property
    def consumers(self) -> _Consumers:
        """The consumers of the registry, and the lineage between contracts."""
        ...


class ErasureStore(Protocol):
    """A registry that records erasures, local or over HTTP."""

    @property
    def governance(self) -> _Governance:
        """The governance of the registry."""
        ...


StoreOpener: TypeAlias = Callable[[], AbstractContextManager[MeasureStore]]
LineageStoreOpener: TypeAlias = Callable[[], AbstractContextManager[LineageStore]]
ProfileStoreOpener: TypeAlias = Callable[[], AbstractContextManager[ProfileStore]]
ErasureStoreOpener: TypeAlias = Callable[[], AbstractContextManager[ErasureStore]]


def measure_run(run: RunSummary) -> tuple[Measure, ...]:
    """Return the measures of a run; each line of a contract is measured for itself."""
    at = run.started_at + timedelta(seconds=run.seconds)
    by_line: dict[str, list[StepSummary]] = {}
    for step in run.steps:
        if step.contract:
            by_line.setdefault(step.line or step.contract, []).append(step)
    details = {"project": run.project, "run": run.run}
    return tuple(
        Measure(line, value.name, at, value.value, state=value.state, details=bounded({**details, **value.details}))
        for line, steps in by_line.items()
        for value in measure_steps(steps, at)
    )


def record_measures(run: RunSummary, open_store: StoreOpener | None) -> str | None:
    """Record the measures of a run in the registry; return a warning if that failed."""
    problem = record_all(measure_run(run), open_store)
    return f"the run ended, but its measures were not recorded: {problem}" if problem else None


def record_all(measures: Sequence[Measure], open_store: StoreOpener | None) -> str | None:
    """Record measures in the registry, if there is one; return why that failed."""
    if open_store is None or not measures:
        return None
    try:
        with open_store() as store:
            for start in range(0, len(measures), MAX_MEASURES_PER_REQUEST):
                store.measures.record(measures[start : start + MAX_MEASURES_PER_REQUEST])
    except Exception as error:  # what was measured must be shown whatever happened here
        return str(error) or type(error).__name__
    return None


def record_profiles(run: RunSummary, open_store: ProfileStoreOpener | None) -> str | None:
    """Record the profiles of the events of a run in the registry; return a warning if that failed."""
    profiles = [(step.line, step.observed.profile) for step in run.steps if step.observed.profile is not None]
    if open_store is None or not profiles:
        return None
    try:
        with open_store() as store:
            for line, profile in profiles:
                with suppress(NotFound):  # a contract that is only in the folder of the project
                    store.drift.record(line, profile)
    except Exception as error:  # the tables are published: the summary must be shown whatever happened here
        return f"the run ended, but its profiles were not recorded: {str(error) or type(error).__name__}"
    return None


def record_lineage(plan: Plan, open_store: LineageStoreOpener | None) -> str | None:
    """Record the lineage and layers of the registered contracts of a project; return a warning if that failed."""
    if open_store is None:
        return None
    try:
        with open_store() as store:
            lineage = contract_lineage(plan)
            for line, layer in data_layers(plan.project).items():
                with suppress(NotFound):  # a contract that is only in the folder of the project
                    store.consumers.record_lineage(str(line), lineage.get(line), layer=layer)
    except Exception as error:  # the tables are published: the summary must be shown whatever happened here
        return f"the run ended, but its lineage was not recorded: {str(error) or type(error).__name__}"
    return None


def record_erasure(
    line: str, fields: Sequence[str], rows: int, tables: Sequence[str], open_store: ErasureStoreOpener | None
) -> str | None:
    """Record in the audit log that a key was erased, without the key; return a warning if that failed."""
    if open_store is None:
        return None
    try:
        with open_store() as store:
            store.governance.record_erasure(line, fields=fields, rows=rows, tables=tables)
    except Exception as error:  # the key is erased: the summary must be shown whatever happened here
        return f"the key was erased, but the audit log has no entry: {str(error) or type(error).__name__}"
    return None
