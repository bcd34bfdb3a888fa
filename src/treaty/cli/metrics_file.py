"""The measures of a run as a file for the textfile collector of Prometheus."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from treaty.contracts.versions import try_parse_line
from treaty.errors import Unavailable
from treaty.observability.measures import measure_kind

if TYPE_CHECKING:
    from treaty.observability import Measure

SUFFIX = ".prom"
"""The collector reads only files with this extension."""
_STATES = ("healthy", "warning", "failing")
_LABELS = ("contract", "line", "measure", "unit")


def check_metrics_file(file: Path) -> None:
    """Fail before a run if its metrics could not be written, or if the collector would not read them."""
    if file.suffix != SUFFIX:
        raise typer.BadParameter(
            f"{file} does not end in {SUFFIX}; the textfile collector reads only such files",
            param_hint="--metrics-file",
        )
    folder = file.absolute().parent
    if file.is_dir() or not folder.is_dir():
        problem = f"{file} is a folder" if file.is_dir() else f"there is no folder {folder}"
        raise typer.BadParameter(f"{problem}; give a file in an existing folder", param_hint="--metrics-file")
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(f"{folder} cannot be written", param_hint="--metrics-file")


def write_metrics(file: Path, project: str, run: int, measures: Iterable[Measure]) -> None:
    """Replace the file in one step by the measures of a run, with their promises and states."""
    registry = CollectorRegistry()
    values = Gauge("treaty_measure", "The last value of a measure of a contract.", _LABELS, registry=registry)
    promises = Gauge("treaty_measure_promise", "What the contract promises.", _LABELS, registry=registry)
    states = Gauge(
        "treaty_measure_state", "1 for the state that the measure is in.", (*_LABELS, "state"), registry=registry
    )
    times = Gauge("treaty_measured_timestamp_seconds", "When a line was measured.", _LABELS[:2], registry=registry)
    number = Gauge("treaty_run", "The number of the last run of a project.", ("project",), registry=registry)
    number.labels(project).set(run)
    for measure in measures:
        line = try_parse_line(measure.contract)
        contract = line.contract if line else measure.contract
        unit = measure_kind(measure.name).unit if measure.unit is None else measure.unit
        labels = (contract, measure.contract, measure.name, unit)
        values.labels(*labels).set(measure.value)
        times.labels(contract, measure.contract).set(measure.at.timestamp())
        if measure.promise is not None:
            promises.labels(*labels).set(measure.promise)
        if measure.state is not None:
            for state in _STATES:
                states.labels(*labels, state).set(float(state == measure.state.value))
    try:
        write_to_textfile(str(file), registry)
    except OSError as error:
        raise Unavailable(f"cannot write the metrics to {file}: {error.strerror}") from None
