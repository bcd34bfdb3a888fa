"""Answers about incidents, service levels and the health of contracts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.model.page import Answer

HealthWord = Literal["healthy", "warning", "blocked", "failing"]
_HEALTH = "Null where nothing was judged lately."


class IncidentAnswer(Answer):
    """A promise that is or was broken, with the evidence, from the first to the last time that it was seen."""

    id: int = Field(examples=[12])
    contract: str = Field(examples=["order_capture"])
    line: str = Field(examples=["order_capture@1"])
    measure: str = Field(examples=["run"])
    title: str = Field(description="What people call the measure.", examples=["Run"])
    severity: Literal["warning", "failing"] = Field(
        description="`failing`: a promise is broken. `warning`: unusual, such as a volume out of its usual range.",
        examples=["failing"],
    )
    state: Literal["open", "closed"] = Field(examples=["open"])
    cause: str = Field(
        examples=["audit of order_capture refused run 7: rule home_delivery_has_destination 0.43 % > 0.1 %"]
    )
    evidence: dict[str, Any] = Field(
        description="The newest measure that breaks the promise.",
        examples=[{"value": 0, "promise": 1, "details": {"run": 7}}],
    )
    owners: list[str] = Field(examples=[["checkout"]])
    first_seen: datetime = Field(examples=["2026-11-03T06:05:00Z"])
    last_seen: datetime = Field(examples=["2026-11-03T14:05:00Z"])
    escalated_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = Field(default=None, examples=["checkout-on-call"])
    reason: str | None = Field(
        default=None, description="What the acknowledgement says.", examples=["the source is being repaired"]
    )
    closed_at: datetime | None = None
    resolution: str | None = Field(
        default=None, description="Why it was closed.", examples=["run: succeeded at 2026-11-03 18:05 UTC"]
    )
    root: int | None = Field(default=None, description="The incident that caused it, if it was found later.")
    blocked: list[str] = Field(
        default=[], description="The lines that wait for this one, by name.", examples=[["orders_published@1"]]
    )
    consumers: dict[str, list[str]] = Field(
        default={},
        description="The consumers that are hit, by class: of the line and of the blocked lines.",
        examples=[{"operational_reporting": ["store-dashboard"]}],
    )
    hidden: int = Field(default=0, description="How many lines and consumers are hit that you may not see.")


class ServiceLevelAnswer(Answer):
    """How a promised service level was kept over a window, with what is left of its error budget."""

    property: str = Field(examples=["freshness"])
    promise: str = Field(examples=["≤ 24 h"])
    measure: str | None = Field(default=None, description="The measure that shows it.", examples=["freshness"])
    state: Literal["healthy", "warning", "failing"] | None = Field(
        default=None, description="Null if it cannot be measured.", examples=["healthy"]
    )
    kept: float | None = Field(default=None, description="In percent of what was measured.", examples=[99.2])
    objective: float | None = Field(default=None, description="The share to keep, in percent.", examples=[99.0])
    budget: float | None = Field(
        default=None,
        description="What is left of the error budget, in percent of it; negative if it is overspent.",
        examples=[20.0],
    )
    measured: int = Field(default=0, description="How many values the window has.", examples=[30])
    reason: str | None = Field(
        default=None, description="Why it cannot be measured.", examples=["no measure 'retention' was recorded"]
    )


class HealthAnswer(Answer):
    """The one health state of a line, or of a contract by its worst line, with the cause."""

    contract: str = Field(examples=["order_capture"])
    line: str | None = Field(default=None, description="The line; of a contract the worst.", examples=["orders@1"])
    name: str | None = Field(default=None, examples=["Captured orders"])
    state: HealthWord | None = Field(default=None, description=_HEALTH, examples=["failing"])
    cause: str = Field(
        default="",
        description="Empty if it is healthy or was not measured.",
        examples=["audit of order_capture refused run 7: rule home_delivery_has_destination 0.43 % > 0.1 %"],
    )
    blocked_by: str | None = Field(default=None, description="The line it waits for.", examples=["order_capture@1"])
    since: datetime | None = Field(default=None, description="Since when it has this state.")
    incident: int | None = Field(default=None, description="The incident that is the cause.", examples=[12])

    @property
    def sentence(self) -> str:
        """State and cause in one sentence, such as `failing: freshness 31 h > 24 h`."""
        if self.state is None:
            return "not measured"
        return self.cause if self.state == "blocked" else f"{self.state}: {self.cause}" if self.cause else self.state


class ContractHealthAnswer(HealthAnswer):
    """The health of a contract, of each of its lines, its open incidents, and how its service levels are kept."""

    lines: list[HealthAnswer] = Field(description="The lines that were measured, the highest first.")
    incidents: list[IncidentAnswer] = Field(description="The open incidents, the newest first.")
    service_levels: list[ServiceLevelAnswer] = Field(description="Of the line that `line` names, else the highest.")
    window_days: int = Field(description="The days over which service levels are evaluated.", examples=[30])
