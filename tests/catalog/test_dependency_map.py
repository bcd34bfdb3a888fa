"""The dependency map in the catalog: what would serve direct readers, what is guessed, and near-duplicates."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalog.page_client import Browser, words
from tests.registry.offers import ID, LTV, PLAN_FIELD, orders
from tests.server.running import running
from treaty.consumers.dependencies import MadeFrom
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.versions import Line
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.service import Registry
from treaty.server.app import create_app

FIELDS = [ID, PLAN_FIELD, LTV]
CLOSE = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'close'")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(orders(fields=FIELDS))
        registry.consumers.record_lineage("orders@1", None, layer="product")
        for name in ("sales", "revenue"):
            registry.register(orders(id=name, fields=FIELDS))
            made = MadeFrom(Line(name, 1), Line("orders", 1))
            registry.consumers.record_lineage(f"{name}@1", [made], layer="publication")
        read = ScannedRead("close", "orders", frozenset({"id"}), "airflow", CLOSE, "tax", "1d", "monthly close")
        registry.dependency_map.record_scan("jobs", [read])
        with running(create_app(registry)) as address, Browser(address) as one:
            yield one


def test_map_names_what_would_serve_and_what_is_guessed(browser: Browser) -> None:
    text = words(browser.get("/catalog/map"))

    assert "product, read directly served by revenue@1" in text
    assert "guessed, 80 %: its name contains 'close'" in text
    assert "1d guessed, 90 %: by its schedule guessed, 60 %: monthly close" in text
    assert "Near-duplicates" in text
    assert "revenue@1 sales@1 100% 100% 100%" in text


def test_export_has_what_would_serve(browser: Browser) -> None:
    (row,) = csv.DictReader(io.StringIO(browser.get("/catalog/map.csv").text))

    assert (row["served_by"], row["forbidden"], row["latency_confidence"], row["decision_confidence"]) == (
        "revenue@1",
        "",
        "0.90",
        "0.60",
    )
