"""Linting a large contract costs at most three times as much as loading it, whatever it finds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from time import process_time
from typing import Any

import pytest

from tests.documents import document
from treaty.contracts import load
from treaty.contracts.text.writer import write_yaml
from treaty.governance.lint import LintSettings, lint

FIELDS = 10_000
TODAY = date(2026, 1, 1)
CONTRACTS: dict[str, tuple[Callable[[int], dict[str, Any]], int]] = {
    "without remarks on fields": (
        lambda number: {
            "name": f"measure_{number}",
            "logicalType": "string",
            "description": f"What sensor {number} told the dispatcher about the parcel.",
        },
        2,
    ),
    "two remarks on every field": (lambda number: {"name": f"measure_{number}"}, 20_002),
}


def _seconds(work: Callable[[], Any]) -> float:
    """Return the processor time of the faster of two runs."""
    times = []
    for _ in range(2):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", CONTRACTS)
def test_linting_costs_at_most_three_times_as_much_as_loading(name: str) -> None:
    field, findings = CONTRACTS[name]
    content = write_yaml(document([field(number) for number in range(FIELDS)]))
    loaded = load(content)

    assert len(lint(loaded, LintSettings(), TODAY).findings) == findings
    assert _seconds(lambda: lint(loaded, LintSettings(), TODAY)) <= 3 * _seconds(lambda: load(content))
