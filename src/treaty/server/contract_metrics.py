"""Metrics of contracts for Prometheus: measures with their promises and states, health and open incidents."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from treaty.contracts.versions import Line
from treaty.observability.health import Health
from treaty.observability.measures import Measure, State
from treaty.registry.service.metrics_snapshot import ContractsSnapshot, OutboxSnapshot

_LINE = ("contract", "line")
_MEASURE = (*_LINE, "measure", "unit")


def collect_contracts(snapshot: ContractsSnapshot) -> Iterator[Metric]:
    """Yield the metrics of contracts; the names and labels of measures are those of `treaty run --metrics-file`."""
    yield from _collect_measures(snapshot.measures)
    health = GaugeMetricFamily("treaty_health", "1 for the health that a line has.", labels=(*_LINE, "state"))
    for line in snapshot.lines:
        for state in Health:
            health.add_metric((*_names(line.line), state.value), float(line.state is state))
    yield health
    incidents = GaugeMetricFamily("treaty_incidents_open", "Open incidents of a line.", labels=(*_LINE, "severity"))
    for line_, severity, count in snapshot.incidents:
        incidents.add_metric((*_names(line_), severity.value), count)
    yield incidents
    contracts = GaugeMetricFamily("treaty_contracts", "Contracts by the health of their worst line.", labels=("state",))
    for state in Health:
        contracts.add_metric((state.value,), snapshot.contracts.get(state, 0))
    yield contracts
    omitted = GaugeMetricFamily("treaty_metrics_omitted", "What is left out above the limit.", labels=("kind",))
    omitted.add_metric(("measures",), snapshot.omitted_measures)
    omitted.add_metric(("lines",), snapshot.omitted_lines)
    yield omitted


def _collect_measures(measures: list[Measure]) -> Iterator[Metric]:
    values = GaugeMetricFamily("treaty_measure", "The last value of a measure of a contract.", labels=_MEASURE)
    promises = GaugeMetricFamily("treaty_measure_promise", "What the contract promises.", labels=_MEASURE)
    states = GaugeMetricFamily(
        "treaty_measure_state", "1 for the state that the measure is in.", labels=(*_MEASURE, "state")
    )
    times = GaugeMetricFamily("treaty_measured_timestamp_seconds", "When a line was measured.", labels=_LINE)
    measured_at: dict[tuple[str, str], float] = {}
    for measure in measures:
        line = _names(Line(measure.contract, measure.major or 0))
        labels = (*line, measure.name, measure.unit or "")
        values.add_metric(labels, measure.value)
        measured_at[line] = max(measured_at.get(line, 0.0), measure.at.timestamp())
        if measure.promise is not None:
            promises.add_metric(labels, measure.promise)
        if measure.state is not None:
            for state in State:
                states.add_metric((*labels, state.value), float(state is measure.state))
    for line, at in measured_at.items():
        times.add_metric(line, at)
    yield from (values, promises, states, times)


def collect_outbox(snapshot: OutboxSnapshot) -> Iterator[Metric]:
    """Yield the metrics of the outbox."""
    deliveries = GaugeMetricFamily(
        "treaty_outbox_deliveries", "Deliveries of notices that wait or were given up.", labels=("state",)
    )
    deliveries.add_metric(("pending",), snapshot.pending)
    deliveries.add_metric(("dead",), snapshot.dead)
    yield deliveries
    yield GaugeMetricFamily(
        "treaty_outbox_overdue_seconds",
        "How long the oldest delivery that waits is overdue.",
        value=snapshot.overdue.total_seconds(),
    )


def _names(line: Line) -> tuple[str, str]:
    return line.contract, str(line)
