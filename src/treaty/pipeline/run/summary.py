"""Summary of a run, step by step, as values for rendering and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from treaty.pipeline.maintenance import Upkeep
from treaty.pipeline.run.observations import Observations
from treaty.spark.measures import RuleMeasure


class Outcome(StrEnum):
    """How a step ended."""

    DONE = "done"
    NOTHING_NEW = "nothing new"
    REFUSED = "refused by audit"
    FAILED = "failed"
    SKIPPED = "skipped since upstream failed"

    @property
    def is_good(self) -> bool:
        """Whether the step did everything there was to do."""
        return self in (Outcome.DONE, Outcome.NOTHING_NEW)


@dataclass(frozen=True)
class Counts:
    """Numbers of rows that a step read and wrote, by outcome."""

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
    control: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(left + right for left, right in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, ...]:
        """Return the numbers in their order."""
        return tuple(number for _, number in self.items())

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield each number with its name."""
        for count in fields(self):
            yield count.name, getattr(self, count.name)

    def nonzero(self) -> dict[str, int]:
        """Return the numbers that are not zero, by name."""
        return {name: number for name, number in self.items() if number}


@dataclass(frozen=True)
class StepSummary:
    """Summary of one step: its outcome, why and how it ran, its duration and its counts."""

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
    """Warnings about a step that succeeded, such as rows that are older than the contract promises."""
    branch: str | None = None
    """The branch with the refused rows, for inspection."""
    contract: str = ""
    """The id of the contract of its rows."""
    line: str = ""
    """The line of that contract."""
    published_at: datetime | None = None
    """When the rows that readers see were published."""
    newest_age: float | None = None
    """Age of the newest row in seconds, if the contract names the element that measures it."""
    exceptions_open: int | None = None
    """Number of open exceptions after the step, for a reconciliation."""
    set_apart: int | None = None
    """Number of files that are set apart after the step, for a source of files."""
    newly_set_apart: int = 0
    """Number of files that this run has set apart; the remarks name them."""
    oldest_exception_age: float | None = None
    """Age of the oldest open exception in seconds, for a reconciliation."""
    observed: Observations = field(default_factory=Observations)
    """Lag, drift, violated rules and declared measures."""
    rules: tuple[RuleMeasure, ...] = ()
    """The results of the audit."""
    started_at: datetime | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the step as JSON data."""
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
            "set_apart": self.set_apart,
        }


@dataclass(frozen=True)
class RunSummary:
    """Summary of one run."""

    run: int
    project: str
    started_at: datetime
    seconds: float
    steps: tuple[StepSummary, ...]
    maintenance: Upkeep | None = None
    """The housekeeping after the steps; None if the run did none."""
    last_known: tuple[str, ...] = ()
    """Contracts that were used as last known, since the registry did not respond."""

    @property
    def succeeded(self) -> bool:
        """Whether every step succeeded."""
        return all(step.outcome.is_good for step in self.steps)

    @property
    def totals(self) -> Counts:
        """The counts of all steps; a row counts once in each layer."""
        return sum((step.counts for step in self.steps), Counts())

    @property
    def unsuccessful(self) -> tuple[StepSummary, ...]:
        """The steps that were refused or failed; skipped steps are left out, since their cause is another step."""
        return tuple(step for step in self.steps if step.outcome in (Outcome.REFUSED, Outcome.FAILED))

    @property
    def remarks(self) -> int:
        """Number of remarks on all steps."""
        return sum(len(step.remarks) for step in self.steps)

    @property
    def newly_set_apart(self) -> int:
        """Number of files that this run has set apart."""
        return sum(step.newly_set_apart for step in self.steps)

    @property
    def set_apart(self) -> int:
        """Number of files that are set apart, by this run or an earlier one."""
        return sum(step.set_apart or 0 for step in self.steps)

    def count(self, outcome: Outcome) -> int:
        """Return the number of steps with an outcome."""
        return sum(step.outcome is outcome for step in self.steps)

    def layers(self) -> dict[str, tuple[StepSummary, ...]]:
        """Return the steps by layer, in the order in which they ran."""
        layers: dict[str, tuple[StepSummary, ...]] = {}
        for step in self.steps:
            layers[step.layer] = (*layers.get(step.layer, ()), step)
        return layers

    def as_data(self) -> dict[str, Any]:
        """Return the summary as JSON data."""
        return {
            "run": self.run,
            "project": self.project,
            "succeeded": self.succeeded,
            "started_at": self.started_at.isoformat(),
            "seconds": round(self.seconds, 3),
            "outcomes": {outcome.value: self.count(outcome) for outcome in Outcome},
            "totals": dict(self.totals.items()),
            "last_known": list(self.last_known),
            "remarks": self.remarks,
            "set_apart": self.set_apart,
            "steps": [step.as_data() for step in self.steps],
            "maintenance": self.maintenance.as_data() if self.maintenance else None,
        }
