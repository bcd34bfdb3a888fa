"""`treaty drift`: list findings, show one with its evidence, and answer it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty
from tests.registry.offers import ID, orders
from treaty.events.drift import Profile
from treaty.registry.service import Registry

PRICE = {"name": "price", "logicalType": "number"}
EVENT = {"type": "ClassChanged", "meaning": "A class was put on the schedule."}


@pytest.fixture
def finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A registry in the folder of the project, with eight usual days and one in cents."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".treaty").mkdir()
    start = datetime.now(UTC).replace(hour=0, minute=5, second=0, microsecond=0) - timedelta(days=9)
    with Registry.open(str(tmp_path / ".treaty" / "registry.db")) as registry:
        registry.register(orders(fields=[ID, PRICE], event=EVENT))
        for day in range(9):
            at = start + timedelta(days=day)
            prices = {29: 4_000, 30: 6_000} if day == 8 else {21: 4_000, 22: 6_000}
            taken = Profile(
                version="1.0.0",
                run=day,
                at=at,
                events=10_000,
                received=10_000,
                first=at - timedelta(hours=23),
                last=at,
                histograms={"field:price": prices},
            )
            report = registry.drift.record("orders@1", taken)
    return report.findings[0].fingerprint


def test_findings_are_listed(treaty: Treaty, finding: str) -> None:
    listed, data = treaty("drift", "list"), treaty("drift", "list", "--contract", "orders", "--format", "json")

    assert (listed.code, data.code) == (0, 0)
    assert finding in listed.output
    assert "price looks multiplied by about 100" in " ".join(listed.output.split())
    assert [(one["fingerprint"], one["state"]) for one in json.loads(data.output)["items"]] == [(finding, "open")]
    assert "no drift of meaning was found" in treaty("drift", "list", "--contract", "others").output


def test_a_finding_is_shown_with_its_evidence(treaty: Treaty, finding: str) -> None:
    result = treaty("drift", "show", "orders@1", finding)

    assert result.code == 0
    assert "orders@1: price looks multiplied by about 100" in result.output
    assert "1,000 to 1,780" in result.output
    assert treaty("drift", "show", "orders@1", "0000").code == 1


def test_a_finding_is_explained_until_a_day(treaty: Treaty, finding: str) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()

    result = treaty(
        *("drift", "answer", "orders@1", finding, "--owner", "Scheduling"),
        *("--explained-until", until, "--reason", "gold cards are sold"),
    )

    assert result.code == 0
    assert f"Scheduling until {until}: gold cards are sold" in result.output
    assert "explained" in treaty("drift", "list").output


def test_a_new_meaning_opens_a_draft(treaty: Treaty, finding: str) -> None:
    result = treaty(
        *("drift", "answer", "orders@1", finding, "--owner", "Scheduling", "--new-meaning", "The price in cents."),
        *("--guide", "https://wiki.example.org/cents"),
    )

    assert result.code == 0
    assert "draft 2.0.0" in result.output
    assert "new version" in " ".join(treaty("drift", "list").output.split())


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--explained-until", "2030-01-01"),
        ("--new-meaning", "Cents.", "--reason", "cents"),
        ("--explained-until", "someday", "--reason", "x"),
    ],
)
def test_an_incomplete_answer_is_a_usage_error(treaty: Treaty, finding: str, options: tuple[str, ...]) -> None:
    assert treaty("drift", "answer", "orders@1", finding, "--owner", "Scheduling", *options).code == 2
