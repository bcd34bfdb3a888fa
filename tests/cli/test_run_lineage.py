"""A run registers the lineage of every field, so that a change names consumers behind several contracts."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from tests.cli.conftest import Treaty
from treaty.cli.commands.run import PipelineCall, _run
from treaty.cli.options import AnswerFormat
from treaty.cli.pipeline_project import open_offline
from treaty.cli.progress import Progress
from treaty.pipeline.run import RunOptions, RunSummary
from treaty.registry.service import Registry

RETAIL = Path(__file__).parents[2] / "examples" / "retail"
ORDER_PLACED = RETAIL / "contracts" / "events" / "retail.orders.order_placed.yaml"
PARTS = ("policies", "events", "products", "reconciliation", "publications")
READER = ("--class", "external_regulatory", "--field", "sales_channel", "--contact", "#customs")
PATH = [
    "retail.orders.order_placed@1",
    "retail.products.order_capture@1",
    "retail.publications.fulfillment_order_ready@1",
    "customs",
]


@pytest.fixture
def registry(treaty: Treaty, tmp_path: Path) -> Path:
    """A registry with the contracts of the retailer and a consumer of one of its publications."""
    file = tmp_path / "registry.db"
    for part in PARTS:
        assert treaty("register", str(RETAIL / "contracts" / part), "--registry", str(file)).code == 0
    line = "retail.publications.fulfillment_order_ready@1"
    assert treaty("consumer", "subscribe", "customs", line, *READER, "--registry", str(file)).code == 0
    return file


def _without_sales_channel(folder: Path) -> str:
    document = yaml.safe_load(ORDER_PLACED.read_text())
    document["version"] = "2.0.0"
    for item in document["schema"]:
        item["properties"] = [one for one in item["properties"] if one["name"] != "sales_channel"]
    file = folder / "order_placed.yaml"
    file.write_text(yaml.safe_dump(document))
    return str(file)


def _effects(treaty: Treaty, file: str, registry: Path) -> dict[str, tuple[str, list[str]]]:
    answer = treaty("consumer", "impact", file, "--registry", str(registry), "--format", "json")
    affected: list[dict[str, Any]] = json.loads(answer.output)["affected"]
    return {one["name"]: (one["effect"], one["path"]) for one in affected}


def test_a_change_of_an_event_names_the_regulatory_consumer_of_a_publication_after_a_run(
    treaty: Treaty, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "treaty.pipeline.run.run_project", lambda *_: RunSummary(1, "retail", datetime.now(UTC), 1.0, ())
    )  # the rows do not matter: the lineage follows from the plan
    opened = replace(open_offline(RETAIL / "pipeline", None), registry=lambda: Registry.open(str(registry)))
    change = _without_sales_channel(tmp_path)
    before = _effects(treaty, change, registry)

    call = PipelineCall(RETAIL / "pipeline", None, None, None, AnswerFormat.TEXT)
    _run(call, RunOptions(), opened, cast(Any, None), Progress(), "lake")

    assert before["customs"][0] == "exposed"
    assert _effects(treaty, change, registry)["customs"] == ("hit", PATH)
    with Registry.open(str(registry)) as reopened:
        ready = reopened.consumers.lineage("retail.publications.fulfillment_order_ready@1")
    assert ready.layer == "publication"
    capture = next(one for one in ready.upstreams if one.line == "retail.products.order_capture@1")
    assert capture.mappings["sales_channel"] == ["sales_channel"]
