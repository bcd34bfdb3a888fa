"""The options of a history."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from .clock import DAY, HOUR
from .events import EVENTS

LONG_LINE = 256 * 1024
HUGE_LINE = 10 * 1024 * 1024
LATE_SHARE = 0.03
BATCHES = {"hour": HOUR, "day": DAY, "week": 7 * DAY}
"""The period of one file."""


@dataclass(frozen=True, slots=True)
class Options:
    """All options that determine the content of a history."""

    orders: int = 10_000
    seed: int = 7
    days: int = 30
    start: date = date(2026, 1, 5)
    wave: int = 1
    defects: bool = True
    late_share: float = LATE_SHARE
    poison: bool = True
    """Whether defects include lines that are not events."""
    only: tuple[str, ...] = ()
    """Names of events, long or short; all where none is named."""
    batch: str = "day"
    long_line: int = LONG_LINE

    def __post_init__(self) -> None:
        for name, least in (("orders", 1), ("days", 1), ("wave", 1), ("long_line", 1_024)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; give at least {least}")
        if not 0 <= self.late_share <= 1:
            raise ValueError(f"late_share is {self.late_share}; give a share between 0 and 1")
        if self.batch not in BATCHES:
            raise ValueError(f"batch is {self.batch!r}; use one of: {', '.join(BATCHES)}")
        known = {name for event in EVENTS for name in (event.name, event.short)}
        if unknown := [name for name in self.only if name not in known]:
            shorts = ", ".join(event.short for event in EVENTS)
            raise ValueError(f"no event is called {unknown[0]!r}; use one of: {shorts}")

    @property
    def events(self) -> frozenset[str]:
        """The full names of the selected events."""
        return frozenset(
            event.name for event in EVENTS if not self.only or event.name in self.only or event.short in self.only
        )

    def described(self) -> dict[str, Any]:
        """Return the options as a JSON object."""
        return {**asdict(self), "start": self.start.isoformat(), "only": sorted(self.events)}


def clean(orders: int, seed: int = 7, days: int = 30) -> Options:
    """Return the options of a history without defects, for benchmarks."""
    return Options(orders=orders, seed=seed, days=days, defects=False, late_share=0.0)
