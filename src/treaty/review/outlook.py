"""What a registry knows about the line that a consumer reads, and the review of a subscription."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscription_files import DeclaredSubscription
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.governance.lifecycle import Ending
from treaty.governance.waivers import Waiver

HIDDEN_DEPENDENCY = "consumer_hidden_dependency"


class PlanState(StrEnum):
    """Whether a breaking version is only proposed, or registered with a migration to it."""

    PROPOSED = "proposed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A breaking version and what it means for one consumer; `effect` is None if the registry does not know it."""

    version: str
    state: PlanState
    line: str | None = None
    migration: int | None = None
    ends_on: date | None = None
    effect: str | None = None
    progress: str | None = None
    """The state of the consumer in the migration: waiting, acknowledged, moved or waived."""


@dataclass(frozen=True)
class LineOutlook:
    """A line as the registry knows it, for one of its consumers."""

    contract: Contract
    """The version that speaks for the line."""
    ending: Ending
    newer_lines: tuple[Contract, ...] = ()
    """The current version of each line with a higher MAJOR that is not retired, the highest first."""
    planned: tuple[PlannedChange, ...] = ()
    is_subscribed: bool = False
    """Whether the consumer is registered as a reader of the line."""
    built_for: Contract | None = None
    """The version that the consumer was built for, if it names one and that is registered."""
    layer: DataLayer | None = None
    """The layer in which a run publishes the line, if one recorded it."""
    policies: tuple[Contract, ...] = ()
    """The policies that bind the line."""
    served_by: Line | None = None
    """The nearest publication that is derived from the line."""
    waivers: tuple[Waiver, ...] = ()
    """The waivers of the registry."""
    hidden: tuple[Finding, ...] = ()
    """What the consumer was found to read that the contract does not promise."""


@dataclass(frozen=True)
class SubscriptionReview:
    """What is coming for a consumer that the repository declares; `outlook` is None if the line is not registered."""

    path: str
    declared: DeclaredSubscription
    outlook: LineOutlook | None
    findings: tuple[Finding, ...] = ()

    @property
    def consumer(self) -> str:
        """The name of the consumer."""
        return self.declared.subscription.consumer

    @property
    def line(self) -> str:
        """The line that it reads."""
        return str(self.declared.subscription.line)

    @property
    def may_merge(self) -> bool:
        """Whether the subscription has no errors."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def has_news(self) -> bool:
        """Whether the consumer has something to do: an error or a warning."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)


def subscription_as_data(review: SubscriptionReview) -> dict[str, Any]:
    """Return the review of a subscription as plain data."""
    subscription, outlook = review.declared.subscription, review.outlook
    return {
        "path": review.path,
        "consumer": review.consumer,
        "line": review.line,
        "class": subscription.consumer_class.value,
        "fields": [str(field) for field in subscription.fields],
        "built_for": review.declared.version,
        "may_merge": review.may_merge,
        "registered": outlook is not None and outlook.is_subscribed,
        "current": None if outlook is None else outlook.contract.version,
        **_ending_as_data(None if outlook is None else outlook.ending),
        "layer": outlook.layer.value if outlook is not None and outlook.layer is not None else None,
        "newer_lines": [
            {"line": contract.line, "version": contract.version}
            for contract in (outlook.newer_lines if outlook else ())
        ],
        "planned": [_planned_as_data(change) for change in (outlook.planned if outlook else ())],
        "findings": [finding.as_data() for finding in review.findings],
    }


def _ending_as_data(ending: Ending | None) -> dict[str, Any]:
    days = (ending.announced, ending.sunset, ending.retirement) if ending else (None, None, None)
    names = ("announced_on", "sunset_on", "retire_on")
    return {
        "status": ending.status.value if ending else None,
        **{name: day.isoformat() if day else None for name, day in zip(names, days, strict=True)},
        "replacement": ending.replacement if ending else None,
    }


def _planned_as_data(change: PlannedChange) -> dict[str, Any]:
    return {
        "version": change.version,
        "state": change.state.value,
        "line": change.line,
        "migration": change.migration,
        "ends_on": change.ends_on.isoformat() if change.ends_on else None,
        "effect": change.effect,
        "progress": change.progress,
    }
