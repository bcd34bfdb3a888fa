"""How far back the history of a table goes, and why: properties of the table that `--as-of` reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

_SINCE = "treaty-history.since"
_REASON = "treaty-history.reason"


@dataclass(frozen=True)
class HistoryLimit:
    """The time of the oldest state that a table still has, and why older states are gone."""

    since: datetime
    reason: str


def history_limit(since: datetime, reason: str) -> dict[str, str]:
    """Return the limit as properties of a table."""
    return {_SINCE: since.isoformat(), _REASON: reason}


def read_history_limit(properties: Mapping[str, str]) -> HistoryLimit | None:
    """Return the limit in the properties of a table; None if its history is complete."""
    since = properties.get(_SINCE)
    return HistoryLimit(datetime.fromisoformat(since), properties.get(_REASON, "")) if since else None
