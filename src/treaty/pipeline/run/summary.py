"""What a run did, step by step, as values that whoever draws them need not understand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a step ended."""

    DONE = "done"
    NOTHING_NEW = "nothing new"
    REFUSED = "refused by audit"
    FAILED = "failed"
    SKIPPED = "skipped since upstream failed"

    @property
    def is_good(self) -> bool:
        """Whether the step did all there was to do."""
        return self in (Outcome.DONE, Outcome.NOTHING_NEW)


@dataclass(frozen=True)
class Counts:
    """How many rows a step saw and made, by what became of them."""

    rows_in: int = 0
    accepted: int = 0
    duplicate: int = 0
    conflicting: int = 0
    quarantined: int = 0
    valid: int = 0
    out_of_order: int = 0
    gaps: int = 0
    resolved: int = 0
    held: int = 0
    exceptions_opened: int = 0
    exceptions_closed: int = 0
    published: int = 0
    deleted: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(one + two for one, two in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, ...]:
        """Return the numbers in their order."""
        return tuple(number for _, number in self.items())

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield each number with its name."""
        for one in fields(self):
            yield one.name, getattr(self, one.name)

    def said(self) -> dict[str, int]:
        """Return the numbers that are not zero, by name."""
        return {name: number for name, number in self.items() if number}


@dataclass(frozen=True)
class StepSummary:
    """What one step did: how it ended, why it ran, how, for how long, and what it counted."""

    name: str
    layer: str
    outcome: Outcome
    table: str = ""
    mode: str = ""
    why: str = ""
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    reasons: tuple[str, ...] = ()
    """Why it was refused, failed or skipped."""
    remarks: tuple[str, ...] = ()
    """What somebody should know although it went well, such as rows that are older than promised."""
    branch: str | None = None
    """Where what was refused can be looked at."""
    contract: str = ""
    """The id of the contract that its rows are held to."""
    published_at: datetime | None = None
    """When what readers see now was published."""
    newest_age: float | None = None
    """How many seconds old the newest row is, where the contract says by which element that is measured."""
    exceptions_open: int | None = None
    """How many exceptions stand open after it, where it counted them."""

    def as_data(self) -> dict[str, Any]:
        """Return the step as JSON would say it."""
        return {
            "name": self.name,
            "layer": self.layer,
            "table": self.table or None,
            "outcome": self.outcome.value,
            "mode": self.mode or None,
            "why": self.why or None,
            "rows": dict(self.counts.items()),
            "seconds": round(self.seconds, 3),
            "reasons": list(self.reasons),
            "remarks": list(self.remarks),
            "branch": self.branch,
        }


@dataclass(frozen=True)
class RunSummary:
    """What one run did."""

    run: int
    project: str
    started_at: datetime
    seconds: float
    steps: tuple[StepSummary, ...]

    @property
    def succeeded(self) -> bool:
        """Whether every step did all there was to do."""
        return all(step.outcome.is_good for step in self.steps)

    @property
    def totals(self) -> Counts:
        """The numbers of all steps together; each row counts once in each layer it went through."""
        return sum((step.counts for step in self.steps), Counts())

    @property
    def troubled(self) -> tuple[StepSummary, ...]:
        """The steps that were refused or failed; those that were skipped have no cause of their own."""
        return tuple(step for step in self.steps if step.outcome in (Outcome.REFUSED, Outcome.FAILED))

    def count(self, outcome: Outcome) -> int:
        """Return how many steps ended so."""
        return sum(step.outcome is outcome for step in self.steps)

    def layers(self) -> dict[str, tuple[StepSummary, ...]]:
        """Return the steps by layer, both in the order they ran."""
        found: dict[str, tuple[StepSummary, ...]] = {}
        for step in self.steps:
            found[step.layer] = (*found.get(step.layer, ()), step)
        return found

    def as_data(self) -> dict[str, Any]:
        """Return the summary as JSON would say it."""
        return {
            "run": self.run,
            "project": self.project,
            "succeeded": self.succeeded,
            "started_at": self.started_at.isoformat(),
            "seconds": round(self.seconds, 3),
            "outcomes": {outcome.value: self.count(outcome) for outcome in Outcome},
            "totals": dict(self.totals.items()),
            "steps": [step.as_data() for step in self.steps],
        }
