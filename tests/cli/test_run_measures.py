"""A run records its measures in the registry; an unreachable registry gives a warning."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from tests.registry.offers import ORDERS, orders
from treaty.cli.commands.run import PipelineCall, _run
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

    def go(registry: Callable[[], AbstractContextManager[Registry]] | None) -> RunSummary:
        contracts = cast(ResolvedContracts, type("None used", (), {"by_line": {}})())
        settings = load_settings(None, start=tmp_path)
        opened = OpenedProject(cast(Project, None), contracts, settings, registry)
        asked = PipelineCall(tmp_path, None, None, None, AnswerFormat.TEXT)
        return _run(asked, RunOptions(), opened, cast(Any, None), Progress())

    return go


def test_the_registry_keeps_what_a_run_measured(
    run: Callable[..., RunSummary], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "registry.db")
    with Registry.open(place) as registry:
        registry.register(orders())

    assert run(lambda: Registry.open(place)) is DONE
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

    assert run(down) is DONE
    warning = capsys.readouterr().err
    assert warning.startswith("warning: the run ended, but its measures were not recorded: no registry")
    assert warning.count("\n") == 1


def test_run_without_a_registry_prints_no_warning(
    run: Callable[..., RunSummary], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(None) is DONE
    assert capsys.readouterr().err == ""
