"""The measures of a run are written for the textfile collector of Prometheus."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from prometheus_client.parser import text_string_to_metric_families

from treaty.cli.metrics_file import check_metrics_file, write_metrics
from treaty.observability import Measure, State

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_each_measure_is_written_with_its_promise_and_state(tmp_path: Path) -> None:
    file = tmp_path / "shop.prom"
    write_metrics(
        file,
        "shop",
        7,
        [
            Measure("shop.orders@2", "freshness", AT, 120.0, "s", 3_600.0, State.HEALTHY),
            Measure("shop.orders@2", "volume", AT, 10.0, "rows"),
        ],
    )
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(file.read_text())
        for sample in family.samples
    }
    line = (("contract", "shop.orders"), ("line", "shop.orders@2"))
    freshness = (*line, ("measure", "freshness"))

    assert samples == {
        ("treaty_run", ("project", "shop")): 7.0,
        ("treaty_measured_timestamp_seconds", *line): AT.timestamp(),
        ("treaty_measure", *freshness, ("unit", "s")): 120.0,
        ("treaty_measure", *line, ("measure", "volume"), ("unit", "rows")): 10.0,
        ("treaty_measure_promise", *freshness, ("unit", "s")): 3_600.0,
        ("treaty_measure_state", *freshness, ("state", "healthy"), ("unit", "s")): 1.0,
        ("treaty_measure_state", *freshness, ("state", "warning"), ("unit", "s")): 0.0,
        ("treaty_measure_state", *freshness, ("state", "failing"), ("unit", "s")): 0.0,
    }


def test_a_later_run_replaces_the_file(tmp_path: Path) -> None:
    file = tmp_path / "shop.prom"
    for run in (1, 2):
        write_metrics(file, "shop", run, [])

    assert 'treaty_run{project="shop"} 2.0' in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["shop.prom"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("metrics.txt", "does not end in .prom; the textfile collector reads only such files"),
        ("lost/metrics.prom", "there is no folder"),
        ("folder.prom", "is a folder; give a file in an existing folder"),
    ],
)
def test_a_file_that_cannot_be_collected_is_refused_before_the_run(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.prom").mkdir()

    with pytest.raises(typer.BadParameter, match=message):
        check_metrics_file(tmp_path / name)
