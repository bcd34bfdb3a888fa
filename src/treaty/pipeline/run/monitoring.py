"""Monitoring between runs: availability, freshness and drift of the published tables, from their metadata."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from treaty.contracts.model import Contract
from treaty.errors import TreatyError
from treaty.events.event_times import freshness_field
from treaty.observability import Measure, State, evaluate_measure, measures, worst
from treaty.pipeline.plan import Layer
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.run.observations import DriftedField, table_drift
from treaty.pipeline.run.step_measures import StepMeasure, bounded, measure_drift
from treaty.pipeline.tables import TableCatalog, TableState
from treaty.pipeline.tables.view_states import ViewState, view_states
from treaty.spark.schema import column_name

_PERCENT = 100.0


@dataclass(frozen=True)
class TableCheck:
    """What the metadata of a table say: the age of what readers see, and its drift; or why they say nothing."""

    table: str
    contract: Contract
    age: float | None = None
    measured_by: str | None = None
    """The field whose newest value the age is counted from; None if it is counted from the publication."""
    drift: tuple[DriftedField, ...] | None = None
    problem: str | None = None
    is_readable: bool | None = None
    """Whether the metadata could be read; None if there is no table yet."""

    @property
    def line(self) -> str:
        """The line of the contract."""
        return self.contract.line or self.contract.id


@dataclass(frozen=True)
class MonitorReport:
    """The checks of all tables, and their measures with the state that the contracts give them."""

    at: datetime
    checks: tuple[TableCheck, ...]
    measures: tuple[Measure, ...]

    @property
    def state(self) -> State | None:
        """The worst state of all measures."""
        return worst(measure.state for measure in self.measures)

    def measured(self, check: TableCheck, name: str) -> Measure | None:
        """Return a measure of a table."""
        own = (one for one in self.measures if one.name == name and one.details.get("table") == check.table)
        return next(own, None)

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "at": self.at.isoformat(),
            "state": self.state.value if self.state else None,
            "tables": [self._table_data(check) for check in self.checks],
        }

    def _table_data(self, check: TableCheck) -> dict[str, Any]:
        names = (measures.AVAILABILITY, measures.FRESHNESS, measures.SCHEMA_DRIFT)
        values = {name: self.measured(check, name) for name in names}
        return {
            "table": check.table,
            "line": check.line,
            "measured_by": check.measured_by,
            "problem": check.problem,
            **{name: None if measure is None else _measure_data(measure) for name, measure in values.items()},
        }


def _measure_data(measure: Measure) -> dict[str, Any]:
    return {
        "value": measure.value,
        "promise": measure.promise,
        "state": measure.state.value if measure.state else None,
        "details": dict(measure.details),
    }


def monitor_tables(steps: Iterable[Step], catalog: TableCatalog, project: str, now: datetime) -> MonitorReport:
    """Check the tables of a project; those of the raw layer are under no contract."""
    try:
        views = view_states(catalog)
    except TreatyError:  # each table says why it cannot be read
        views = {}
    checked = tuple(_check(step, catalog, views.get(step.table), now) for step in steps if step.layer is not Layer.RAW)
    taken = tuple(measure for check in checked for measure in _measures(check, project, now))
    return MonitorReport(now, checked, taken)


def _check(step: Step, catalog: TableCatalog, view: Sequence[ViewState] | None, now: datetime) -> TableCheck:
    contract = step.contract
    try:
        if view:
            return TableCheck(step.table, contract, _age(view[0].stamp.committed_at, now), is_readable=True)
        state = catalog.load(step.table)
        if state is None or state.stamp is None:
            return TableCheck(step.table, contract, problem="it was not built yet")
        return _check_table(step, catalog, state, now)
    except TreatyError as error:
        return TableCheck(step.table, contract, problem=str(error), is_readable=False)


def _check_table(step: Step, catalog: TableCatalog, state: TableState, now: datetime) -> TableCheck:
    field = freshness_field(step.contract)
    newest = catalog.newest_value(step.table, column_name(field)) if field else None
    stamp = state.stamp
    assert stamp is not None  # noqa: S101  a table without a stamp is not checked
    published = newest or stamp.committed_at
    return TableCheck(
        step.table,
        step.contract,
        _age(published, now),
        field.name if field and newest else None,
        table_drift(state.columns, step.contract),
        catalog.foreign_write(step.table),
        is_readable=True,
    )


def _age(moment: datetime, now: datetime) -> float:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (now - aware).total_seconds())


def _measures(check: TableCheck, project: str, now: datetime) -> Iterable[Measure]:
    taken = [] if check.age is None else [StepMeasure(measures.FRESHNESS, check.age)]
    if check.is_readable is not None:
        taken.append(StepMeasure(measures.AVAILABILITY, _PERCENT if check.is_readable else 0.0))
    if check.drift is not None:
        taken.append(measure_drift(check.drift))
    for measure in taken:
        details = bounded({**measure.details, "project": project, "table": check.table, "monitor": True})
        raw = Measure(check.line, measure.name, now, measure.value, state=measure.state, details=details)
        yield evaluate_measure(raw, check.contract)
