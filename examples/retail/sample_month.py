"""Record a month of sample measures: what daily runs of the demo would have measured, with incidents.

`python -m examples.retail.sample_month REGISTRY` writes to a registry file; the measures are generated, and each says
so in its details (`sample: true`). The last day is left to a run, which comes after them: older measures change no
incidents.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from treaty import Registry
from treaty.observability import Measure
from treaty.observability import measures as kinds
from treaty.observability.evidence import FIELDS, REFUSED, RUN_ID, BrokenRule, refusal_details

DAYS = 29
_SEED = 7
_MINUTE = 60.0
_WEEKEND_VOLUME = 1.4


@dataclass(frozen=True, slots=True)
class Series:
    """What a normal day of a line looks like."""

    line: str
    rows: int
    freshness_minutes: float
    quarantined_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class Incident:
    """Days on which a line did not look normal, counted back from today."""

    line: str
    first: int
    last: int
    freshness_minutes: float | None = None
    quarantined_percent: float | None = None
    volume: float = 1.0
    """The share of the usual rows that arrived."""
    drifted: tuple[str, ...] = ()
    """Fields of the data that the contract does not have."""
    broken_rule: BrokenRule | None = None
    """The rule by which the audit refused the run."""

    def covers(self, line: str, days_ago: int) -> bool:
        """Return whether this is a day of the incident."""
        return line == self.line and self.last <= days_ago <= self.first


_PLACED, _CANCELLED = "retail.orders.order_placed@1", "retail.orders.order_cancelled@1"
_CAPTURE, _TIMELINE = "retail.products.order_capture@1", "retail.publications.customer_order_timeline@1"

SERIES = (
    Series(_PLACED, 200, 12, 0.6),
    Series(_CANCELLED, 18, 12),
    Series(_CAPTURE, 196, 25),
    Series(_TIMELINE, 214, 31),
)

INCIDENTS = (
    Incident(_PLACED, 23, 21, quarantined_percent=6.5),  # a release of the shop that sent bad rows
    Incident(_PLACED, 18, 18, drifted=("loyalty_tier",)),  # a field that nobody had announced
    Incident(_PLACED, 13, 13, volume=0.2),  # most of the shop was down
    Incident(_CAPTURE, 9, 8, freshness_minutes=290),  # the source was late for a night, and so was what is made of it
    Incident(_TIMELINE, 9, 8, freshness_minutes=310),
    Incident(_CAPTURE, 4, 3, broken_rule=BrokenRule("home_delivery_has_destination", 0.43, 0.1)),
    Incident(_TIMELINE, 4, 3, freshness_minutes=1_500),
)


def sample_month(now: datetime) -> Iterator[Measure]:
    """Yield the measures of the days before today, the oldest first; the same day gives the same measures."""
    draw = random.Random(_SEED)  # noqa: S311 - nothing secret
    for days_ago in range(DAYS, 0, -1):
        at = (now - timedelta(days=days_ago)).replace(hour=5, minute=0, second=0, microsecond=0)
        for series in SERIES:
            yield from _day(series, at, days_ago, draw)


def _day(series: Series, at: datetime, days_ago: int, draw: random.Random) -> Iterator[Measure]:
    incident = next((one for one in INCIDENTS if one.covers(series.line, days_ago)), Incident(series.line, 0, 0))
    usual_rows = series.rows * draw.uniform(0.95, 1.05) * (_WEEKEND_VOLUME if at.weekday() >= 5 else 1)
    rows = round(usual_rows * incident.volume)
    usual = series.freshness_minutes * draw.uniform(0.7, 1.4)
    minutes = usual if incident.freshness_minutes is None else incident.freshness_minutes
    share = (incident.quarantined_percent or series.quarantined_percent) * draw.uniform(0.8, 1.2)
    quarantined = round(rows * share / 100)
    values = {
        kinds.RUN: 0.0 if incident.broken_rule else 1.0,
        kinds.DURATION: 40.0 + rows / 10,
        kinds.FRESHNESS: minutes * _MINUTE,
        kinds.ROWS_IN: rows,
        kinds.VOLUME: rows - quarantined,
        kinds.QUARANTINED: quarantined,
        kinds.QUARANTINED_SHARE: 100 * quarantined / rows,
        kinds.SCHEMA_DRIFT: len(incident.drifted),
    }
    run = DAYS - days_ago + 1
    for name, value in values.items():
        details = {"sample": True, RUN_ID: run, **_details(series, name, incident)}
        yield Measure(series.line, name, at, float(value), details=details)


def _details(series: Series, name: str, incident: Incident) -> dict[str, Any]:
    if name == kinds.RUN and incident.broken_rule is not None:
        step = series.line.partition("@")[0].rpartition(".")[2]
        return {REFUSED: refusal_details(step, [incident.broken_rule])}
    return {FIELDS: list(incident.drifted)} if name == kinds.SCHEMA_DRIFT and incident.drifted else {}


def record_sample_month(store: Registry, now: datetime) -> int:
    """Record the month day by day, as runs would have, and return the number of measures."""
    days = groupby(sample_month(now), key=lambda measure: measure.at)
    return sum(store.measures.record(tuple(measures)).recorded for _, measures in days)


if __name__ == "__main__":
    with Registry.open(sys.argv[1], actor="sample") as opened:
        print(f"{record_sample_month(opened, datetime.now(UTC))} sample measures for {DAYS} days")
