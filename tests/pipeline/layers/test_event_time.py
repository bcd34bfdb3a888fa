"""Lag is measured from the event time that a contract names, at the percentile that it promises."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.documents import contract
from treaty.events.event_times import event_time_field, freshness_field, promised_percentile
from treaty.pipeline.layers.event_time import (
    read_event_times,
)

PLACED = {"name": "placed_at", "logicalType": "timestamp", "required": True}
INFORMED = {"name": "informed_at", "logicalType": "timestamp"}
ARRIVED = {"name": "arrived_at", "logicalType": "timestamp", "semantic_type": "event time"}
CODE = {"name": "code", "logicalType": "string"}
EVENT = {"event": {"type": "OrderPlaced"}}


def level(name: str, element: str | None) -> dict[str, Any]:
    return {"property": name, "value": 1, "unit": "h"} | ({"element": element} if element else {})


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"fields": [PLACED, INFORMED], "slaProperties": [level("latency", "orders.informed_at")]}, "informed_at"),
        ({"fields": [PLACED, INFORMED], "slaProperties": [level("freshness", "informed_at")]}, "informed_at"),
        ({"fields": [PLACED, ARRIVED], **EVENT}, "arrived_at"),
        ({"fields": [PLACED, INFORMED], **EVENT}, "placed_at"),
        ({"fields": [PLACED, INFORMED]}, None),
        ({"fields": [PLACED, {**INFORMED, "required": True}], **EVENT}, None),
        ({"fields": [CODE, PLACED], "slaProperties": [level("latency", "code")]}, None),
    ],
)
def test_the_event_time_of_a_contract(document: dict[str, Any], name: str | None) -> None:
    field = event_time_field(contract(document))

    assert (field.name if field else None) == name


def test_freshness_is_measured_by_its_own_element_only() -> None:
    by_latency = contract({"fields": [PLACED], "slaProperties": [level("latency", "placed_at")], **EVENT})
    by_freshness = contract({"fields": [PLACED], "slaProperties": [level("freshness", "placed_at")]})

    assert freshness_field(by_latency) is None
    assert getattr(freshness_field(by_freshness), "name", None) == "placed_at"


@pytest.mark.parametrize(
    ("promise", "percentile"),
    [
        ({"latency": {"within": "15 min", "percentile": 99}}, 99.0),
        ({"latency": {"within": "15 min"}}, 100.0),
        ({"slaProperties": [level("latency", None)]}, 100.0),
        ({}, 95.0),
    ],
)
def test_lag_is_compared_at_the_promised_percentile(promise: dict[str, Any], percentile: float) -> None:
    assert promised_percentile(contract({"fields": [PLACED], **promise})) == percentile


def test_counted_times_are_read_back() -> None:
    assert read_event_times("0 1000000 2500000") == (
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 2, 500_000, tzinfo=UTC),
    )
    assert read_event_times(None) is None
    assert read_event_times("") is None
