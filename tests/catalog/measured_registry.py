"""A registry with thirty days of measures: a late contract, a healthy one, one without measures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from treaty.observability import Measure
from treaty.registry.service import Registry

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
LATE, WELL, NEVER = "shop.late", "shop.well", "shop.never"
HOUR = 3_600.0


def contract(identity: str, **more: Any) -> dict[str, Any]:
    """Return a contract that promises to be a day old at most."""
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": identity,
        "version": "1.0.0",
        "status": "active",
        "domain": identity.rpartition(".")[2],
        "owners": [{"team": "Till", "contact": "#till"}],
        "slaProperties": [
            {"property": "freshness", "value": 24, "unit": "h", "description": "Counted from the till."},
            {"property": "retention", "value": 2, "unit": "y"},
        ],
        "schema": [{"name": "rows", "properties": [{"name": "id", "logicalType": "string"}]}],
    } | more


def measured(identity: str) -> list[Measure]:
    """Return what was measured of a contract, once a day but for a week in the middle; the late one is late since."""
    found = []
    for back in range(30):
        if 8 <= back < 15:
            continue
        at = NOW - timedelta(days=back)
        is_bad = identity == LATE and back < 3
        hours = 31.0 if is_bad else 2.0
        found += [
            Measure(identity, "freshness", at, hours * HOUR),
            Measure(identity, "volume", at, 1_000.0 + back),
            Measure(identity, "run", at, 1.0),
            Measure(identity, "quarantined_rows", at, 12.0 if is_bad else 0.0),
            Measure(identity, "quarantined_share", at, 1.2 if is_bad else 0.0),
        ]
    return found


def open_measured(path: Path) -> Registry:
    """Make the registry in a new file."""
    registry = Registry.open(str(path), clock=lambda: NOW)
    for identity in (LATE, WELL, NEVER):
        registry.register(contract(identity))
    registry.measures.record([*measured(LATE), *measured(WELL)])
    return registry
