"""A run records its measures in the registry; an unreachable registry gives a warning."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from tests.registry.offers import ORDERS, orders
from treaty.cli.commands.run import PipelineCall, _run, run_and_print
from treaty.cli.options import AnswerFormat
from treaty.cli.pipeline_project import OpenedProject
from treaty.cli.progress import Progress
from treaty.errors import Unavailable
from treaty.pipeline.project.contract_resolution import ResolvedContracts
from treaty.pipeline.project.declarations import Project
from treaty.pipeline.run import Counts, Outcome, RunOptions, RunSummary, StepSummary
from treaty.registry.service import Registry
from treaty.settings import load_settings

STEP = StepSummary("orders", "products", Outcome.DONE, counts=Counts(valid=9, quarantined=1), contract=ORDERS)
DONE = RunSummary(1, "shop", datetime.now(UTC), 2.0, (STEP,))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., RunSummary]:
    """Run without Spark: what a run would have done is known."""
    monkeypatch.setattr("treaty.pipeline.run.run_project", lambda *_: DONE)

    def go(
        registry: Callable[[], AbstractContextManager[Registry]] | None, metrics_file: Path | None = None
    ) -> RunSummary:
        contracts = cast(ResolvedContracts, type("None used", (), {"by_line": {}, "last_known": ()})())
        settings = load_settings(None, start=tmp_path)
        opened = OpenedProject(Project(tmp_path), contracts, settings, registry)
        asked = PipelineCall(tmp_path, None, None, None, AnswerFormat.TEXT, metrics_file=metrics_file)
        return _run(asked, RunOptions(), opened, cast(Any, None), Progress(), "lake")

    return go


def test_the_registry_keeps_what_a_run_measured(
    run: Callable[..., RunSummary], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "registry.db")
    with Registry.open(place) as registry:
        registry.register(orders())

    assert run(lambda: Registry.open(place)) == DONE
    with Registry.open(place) as registry:
        found = {one.name: (one.value, one.state) for one in registry.measures.current(contract=ORDERS).items}
    assert found["volume"] == (9.0, None)
    assert found["quarantined_share"] == (10.0, "warning")
    assert found["run"] == (1.0, "healthy")
    assert capsys.readouterr().err == ""


def test_unreachable_registry_gives_a_warning(
    run: Callable[..., RunSummary], capsys: pytest.CaptureFixture[str]
) -> None:
    def down() -> AbstractContextManager[Registry]:
        raise Unavailable("no registry can be reached at http://registry.example.org")

    assert run(down) == DONE
    warning = capsys.readouterr().err
    assert warning.startswith("warning: the run ended, but its measures were not recorded: no registry")
    assert warning.count("\n") == 1


def test_run_without_a_registry_prints_no_warning(
    run: Callable[..., RunSummary], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(None) == DONE
    assert capsys.readouterr().err == ""


def test_measures_are_written_for_prometheus(run: Callable[..., RunSummary], tmp_path: Path) -> None:
    file = tmp_path / "shop.prom"

    assert run(None, file) == DONE
    lines = file.read_text().splitlines()
    assert 'treaty_run{project="shop"} 1.0' in lines
    assert f'treaty_measure{{contract="{ORDERS}",line="{ORDERS}",measure="volume",unit="rows"}} 9.0' in lines


@pytest.mark.parametrize(("setting", "newly", "code"), [("warn", 2, None), ("fail", 2, 3), ("fail", 0, None)])
def test_files_set_apart_fail_the_command_if_the_setting_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, newly: int, code: int | None
) -> None:
    iceberg = "spark: {iceberg: {uri: 'jdbc:sqlite:lake.db', warehouse: lake}}"
    (tmp_path / "treaty.yaml").write_text(f"name: shop\n{iceberg}\npipeline: {{on_set_apart: {setting}}}\n")
    summary = replace(DONE, steps=(replace(STEP, layer="raw", set_apart=2, newly_set_apart=newly),))
    assert _exit_code(tmp_path, monkeypatch, summary) == code


@pytest.mark.parametrize("interval_s", [None, 10.0], ids=["a single run", "a run with --follow"])
@pytest.mark.parametrize(("outcome", "code"), [(Outcome.FAILED, 1), (Outcome.REFUSED, 3)])
def test_run_that_did_not_succeed_is_printed_with_its_reason(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcome: Outcome,
    code: int,
    interval_s: float | None,
) -> None:
    iceberg = "spark: {iceberg: {uri: 'jdbc:sqlite:lake.db', warehouse: lake}}"
    (tmp_path / "treaty.yaml").write_text(f"name: shop\n{iceberg}\n")
    summary = replace(DONE, steps=(replace(STEP, outcome=outcome, reasons=("the brokers cannot be reached",)),))

    assert _exit_code(tmp_path, monkeypatch, summary, interval_s) == code
    assert "the brokers cannot be reached" in capsys.readouterr().out


def _exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, summary: RunSummary, interval_s: float | None = None
) -> int | None:
    """Return the exit code of a command whose run ends with a summary."""
    opened = OpenedProject(Project(folder), ResolvedContracts({}), load_settings(None, start=folder))
    monkeypatch.setattr("treaty.cli.pipeline_project.open_project", lambda *_: opened)
    monkeypatch.setattr("treaty.cli.spark_session.command_session", lambda *_: nullcontext((None, Progress())))
    monkeypatch.setattr("treaty.pipeline.tables.Tables", lambda *_: None)
    monkeypatch.setattr("treaty.cli.commands.run._run", lambda *_: summary)
    call = PipelineCall(folder, None, None, None, AnswerFormat.TEXT, interval_s)
    try:
        run_and_print(call, RunOptions())
    except typer.Exit as exit_info:
        return exit_info.exit_code
    return None
