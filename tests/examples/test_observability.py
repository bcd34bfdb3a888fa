"""The example alerts and the dashboard load, and name only metrics that a server and its contracts have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from tests.server.contracts import short
from treaty.observability.measures import Measure
from treaty.registry.service import Registry
from treaty.server.app import create_app

FOLDER = Path(__file__).parents[2] / "examples" / "observability"
ALERTS: dict[str, Any] = yaml.safe_load((FOLDER / "alerts.yml").read_text())
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text())
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
SCRAPED_BY_PROMETHEUS = {"up"}
PROMTOOL = shutil.which("promtool")
VARIABLES = {"$__rate_interval": "5m", "$instance": "a", "$contract": "orders", "$measure": "freshness"}


def panel_expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def variable_expressions() -> Iterator[str]:
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield re.fullmatch(r"label_values\((.*), \w+\)", variable["definition"])[1]  # type: ignore[index]


def fill(expression: str) -> str:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


EXPRESSIONS = [*(rule["expr"] for rule in RULES), *map(fill, [*panel_expressions(), *variable_expressions()])]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Return the label names of each metric of a server with a contract that breaks a promise."""
    now = datetime.now(UTC)
    with Registry.open(str(tmp_path_factory.mktemp("metrics") / "registry.db")) as registry:
        registry.register(short("orders"))
        registry.measures.record([Measure("orders@1", "freshness", now, 7_200.0, "s", 3_600.0)])
        with TestClient(create_app(registry), base_url="http://localhost") as client:
            client.get("/datasets")
            text = client.get("/metrics").text
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the metrics of an expression with the labels that it selects them by."""
    for match in re.finditer(r"\b((?:treaty_\w+)|up)\b(?:\{([^}]*)\})?", expression):
        yield match[1], set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", match[2] or ""))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_promql_and_names_metrics_that_exist(expression: str, metrics: dict[str, set[str]]) -> None:
    promql_parser.parse(expression)

    named = [(name, labels) for name, labels in selectors(expression) if name not in SCRAPED_BY_PROMETHEUS]
    unknown = {name for name, _ in named} - metrics.keys()
    foreign = {(name, label) for name, labels in named for label in labels - metrics[name] - {"instance", "job"}}

    assert (unknown, foreign) == (set(), set())
    assert named or "up{" in expression


def test_every_metric_is_used_in_an_alert_or_on_the_dashboard(metrics: dict[str, set[str]]) -> None:
    used = {name for expression in EXPRESSIONS for name, _ in selectors(expression)}

    assert metrics.keys() - used == set()


def test_every_alert_says_how_severe_it_is_and_what_happens() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    assert {rule["labels"]["severity"] for rule in RULES} == {"critical", "warning", "info"}
    assert all(rule["annotations"]["summary"] for rule in RULES)


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    cells: list[tuple[int, int]] = []
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells += [
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]

    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed; Debian has it in the package prometheus")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_promtool_accepts(arguments: tuple[str, ...]) -> None:
    checked = subprocess.run([str(PROMTOOL), *arguments], cwd=FOLDER, capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout + checked.stderr
