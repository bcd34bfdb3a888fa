"""The profile of the events of a run: counts in fixed bins, small, and without values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from treaty.events.drift.layout import ProfileLayout

Count = Annotated[int, Field(ge=0, lt=2**63)]
Code = Annotated[int, Field(ge=-1, lt=2**16)]
Name = Annotated[str, Field(min_length=1, max_length=600, pattern=r"^[^\x00]+$")]

K = TypeVar("K")

MAX_METRICS = 200
MAX_BINS = 400

FULL_DAY = timedelta(hours=20)
"""Events that span so much time cover all times of a day."""


class Profile(BaseModel):
    """What the events of one run, or of several small ones, looked like."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str = Field(max_length=64, examples=["1.2.0"])
    run: Count = Field(description="The run, or the last of several small ones.", examples=[17])
    at: AwareDatetime = Field(description="When the run began.", examples=["2026-03-02T04:00:00Z"])
    events: Count = Field(examples=[10_000])
    keys: Count | None = Field(default=None, description="About how many keys the events have.", examples=[9_200])
    event_time: str | None = Field(
        default=None, max_length=600, description="The field with the time of the event.", examples=["occurredAt"]
    )
    first: AwareDatetime | None = Field(default=None, examples=["2026-03-01T00:00:12Z"])
    last: AwareDatetime | None = Field(default=None, examples=["2026-03-01T23:59:40Z"])
    histograms: dict[Name, Annotated[dict[Code, Count], Field(max_length=MAX_BINS)]] = Field(
        default={}, max_length=MAX_METRICS, examples=[{"field:price": {"-1": 120, "25": 9_880}}]
    )
    violations: dict[Name, Count] = Field(
        default={},
        max_length=MAX_METRICS,
        description="Events that each rule or invariant refused.",
        examples=[{"lifecycle.move": 3}],
    )
    received: Count = Field(
        default=0, description="Events that were checked, refused ones included.", examples=[10_003]
    )

    @property
    def rate_per_key(self) -> float | None:
        """Events per key."""
        return self.events / self.keys if self.keys else None

    @property
    def covers_day(self) -> bool:
        """Whether the events cover all times of a day."""
        return self.first is not None and self.last is not None and self.last - self.first >= FULL_DAY

    @property
    def is_weekend(self) -> bool:
        """Whether most of the events are from a Saturday or a Sunday."""
        return self.day.weekday() >= 5

    @property
    def day(self) -> datetime:
        """The middle of the events; without event times, the time of the run."""
        if self.first is None or self.last is None:
            return self.at
        return self.first + (self.last - self.first) / 2

    def without(self, fields: Collection[str], *, metrics: Collection[str] = ()) -> Profile:
        """Return the profile without the histograms of some fields, and without some metrics."""
        kept = {
            name: counts
            for name, counts in self.histograms.items()
            if name not in metrics and not fields_of(name) & frozenset(fields)
        }
        keys = None if "keys" in metrics else self.keys
        violations = {name: count for name, count in self.violations.items() if f"violation:{name}" not in metrics}
        return self.model_copy(update={"histograms": kept, "keys": keys, "violations": violations})


def profile_problem(profile: Profile, layout: ProfileLayout) -> str | None:
    """Return why a profile cannot be one of a contract; histograms that the contract does not have are ignored."""
    for name, counts in profile.histograms.items():
        metric = layout.by_name.get(name)
        if metric is not None and (unknown := [code for code in counts if code >= metric.codes]):
            return f"the histogram {name} has the code {unknown[0]}; it has codes up to {metric.codes - 1}"
    return None


def fields_of(metric: str) -> frozenset[str]:
    """Return the fields that a histogram is about."""
    return frozenset(metric.partition(":")[2].split(">"))


def merge_profiles(older: Profile, newer: Profile) -> Profile:
    """Return the profile of the events of both; keys that both have count twice."""
    names = older.histograms.keys() | newer.histograms.keys()
    moments = [moment for one in (older, newer) for moment in (one.first, one.last) if moment is not None]
    return newer.model_copy(
        update={
            "events": older.events + newer.events,
            "received": older.received + newer.received,
            "keys": None if older.keys is None or newer.keys is None else older.keys + newer.keys,
            "first": min(moments, default=None),
            "last": max(moments, default=None),
            "histograms": {
                name: add_counts((older.histograms.get(name, {}), newer.histograms.get(name, {})))
                for name in sorted(names)
            },
            "violations": add_counts((older.violations, newer.violations)),
        }
    )


def add_counts(counts: Iterable[Mapping[K, int]]) -> dict[K, int]:
    """Return the sums of counts."""
    total: dict[K, int] = {}
    for one in counts:
        for code, count in one.items():
            total[code] = total.get(code, 0) + count
    return total
