"""Subscriptions: which consumer depends on which line and fields, for what purpose and with what latency."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line


class ConsumerClass(StrEnum):
    """How a consumer uses the data; the last three classes are critical."""

    EXPLORATORY_ANALYTICS = "exploratory_analytics"
    OPERATIONAL_REPORTING = "operational_reporting"
    DECISION_AUTOMATION = "decision_automation"
    EXTERNAL_REGULATORY = "external_regulatory"
    SERVICE_ORCHESTRATION = "service_orchestration"

    @property
    def is_critical(self) -> bool:
        """Whether a breaking change needs this consumer's acknowledgement."""
        return self in (
            ConsumerClass.DECISION_AUTOMATION,
            ConsumerClass.EXTERNAL_REGULATORY,
            ConsumerClass.SERVICE_ORCHESTRATION,
        )

    @property
    def words(self) -> str:
        """A short description of the class."""
        return _WORDS[self]


_WORDS = {
    ConsumerClass.EXPLORATORY_ANALYTICS: "people explore the data",
    ConsumerClass.OPERATIONAL_REPORTING: "people act on reports",
    ConsumerClass.DECISION_AUTOMATION: "a model or rule makes decisions",
    ConsumerClass.EXTERNAL_REGULATORY: "the data is reported externally or required by law",
    ConsumerClass.SERVICE_ORCHESTRATION: "a service depends on it",
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """The dependency of a consumer on a line; without fields, no breaking change is known to be safe for it."""

    consumer: str
    line: Line
    consumer_class: ConsumerClass
    fields: tuple[FieldPath, ...] = ()
    purpose: str | None = None
    latency: str | None = None
    contact: str | None = None
    is_confirmed: bool = True
    """Whether the consumer's own team declared or confirmed it."""
    confirm_by: date | None = None
    """The last day to confirm it, if the owners of the contract challenged it."""
    is_observed: bool = False
    """Whether there is no subscription: the consumer was only seen reading the line."""

    @property
    def is_awaited(self) -> bool:
        """Whether a breaking change waits for it: only confirmed consumers of a critical class hold one up."""
        return self.consumer_class.is_critical and self.is_confirmed

    def counts(self, today: date) -> bool:
        """Return whether it counts as a dependency: not if it was challenged, and not confirmed in time."""
        return self.is_confirmed or self.confirm_by is None or today <= self.confirm_by

    @property
    def fields_known(self) -> bool:
        """Whether the consumer declared the fields it reads."""
        return bool(self.fields)


def parse_fields(texts: list[str] | tuple[str, ...]) -> tuple[FieldPath, ...]:
    """Parse field paths, without duplicates, sorted."""
    return tuple(sorted({parse_path(text) for text in texts}, key=str))
