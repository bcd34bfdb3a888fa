"""Print events as CloudEvents, one JSON line each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def utc(moment: datetime) -> str:
    """Return a point in time as the contracts have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def send(source: str, kind: str, data: Mapping[str, Any]) -> None:
    """Print an event. Optional fields without a value are left out."""
    key = data["classId"]
    envelope = {
        "specversion": "1.0",
        "id": f"{key}/{data['eventSequence']}",
        "source": f"/gym/{source}",
        "type": kind,
        "subject": key,
        "partitionkey": key,
        "data": {name: value for name, value in data.items() if value is not None},
    }
    print(json.dumps(envelope))
