"""`treaty health` and `treaty incident`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty
from tests.registry.offers import made_from, orders
from treaty.observability.evidence import BrokenRule, refusal_details
from treaty.observability.measures import Measure
from treaty.registry.service import Registry

CAUSE = "audit of orders refused run 7: rule has_destination 0.43 % > 0.1 %"


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> datetime:
    """A registry in the folder of the project in which a run of orders was refused and marts waits for it."""
    monkeypatch.chdir(tmp_path)
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    details = {"run": 7, "refused": refusal_details("orders", [BrokenRule("has_destination", 0.43, 0.1)])}
    (tmp_path / ".treaty").mkdir(exist_ok=True)
    with Registry.open(str(tmp_path / ".treaty" / "registry.db")) as registry:
        registry.register(orders(slaProperties=[{"property": "freshness", "value": 24, "unit": "h"}]))
        registry.register(made_from("marts", "orders"))
        registry.consumers.subscribe("dashboard", "marts@1", consumer_class="operational_reporting")
        registry.measures.record([Measure("orders", "run", at, 0.0, details=details)])
    return at


def test_health_lists_the_worst_contract_first_and_exits_with_3(treaty: Treaty, refused: datetime) -> None:
    shown, data = treaty("health"), treaty("health", "--format", "json")

    assert (shown.code, data.code) == (3, 3)
    assert [(one["contract"], one["state"], one["cause"]) for one in json.loads(data.output)["items"]] == [
        ("orders", "failing", CAUSE),
        ("marts", "blocked", "blocked by orders"),
    ]
    assert shown.output.index("failing") < shown.output.index("blocked by orders")


def test_health_of_a_contract_shows_incidents_and_service_levels(treaty: Treaty, refused: datetime) -> None:
    result = treaty("health", "orders")

    assert result.code == 3
    assert f"failing: {CAUSE}" in result.output
    assert "no measure 'freshness' was recorded" in result.output
    assert treaty("health", "marts").code == 3


def test_health_exits_with_0_when_all_is_well(treaty: Treaty, refused: datetime, tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / ".treaty" / "registry.db")) as registry:
        registry.measures.record([Measure("orders", "run", refused + timedelta(minutes=5), 1.0)])

    assert treaty("health").code == 0
    assert "healthy" in treaty("health", "orders").output


def test_an_incident_is_listed_shown_and_acknowledged(treaty: Treaty, refused: datetime) -> None:
    (incident,) = json.loads(treaty("incident", "list", "--format", "json").output)["items"]
    shown = treaty("incident", "show", str(incident["id"]))
    acknowledged = treaty("incident", "acknowledge", str(incident["id"]), "--reason", "destinations are completed")

    assert (shown.code, acknowledged.code) == (0, 0)
    assert CAUSE in shown.output
    assert "marts@1" in shown.output
    assert "dashboard" in shown.output
    assert "destinations are completed" in acknowledged.output
    assert "failing, acknowledged" in treaty("incident", "list", "--state", "open", "--contract", "orders").output
    assert "no incidents" in treaty("incident", "list", "--state", "closed").output


def test_unknown_incidents_and_contracts_are_clear_errors(treaty: Treaty, refused: datetime) -> None:
    for command in (("incident", "show", "999"), ("health", "nothing")):
        result = treaty(*command)
        assert result.code == 1
        assert "Traceback" not in result.output
