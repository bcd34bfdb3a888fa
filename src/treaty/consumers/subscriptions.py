"""Subscriptions: who depends on which line, which fields, for what, and how soon."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line


class ConsumerClass(StrEnum):
    """What rests on the data; the last three are where contract discipline matters most."""

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
        """What rests on the data then, in plain words."""
        return _WORDS[self]


_WORDS = {
    ConsumerClass.EXPLORATORY_ANALYTICS: "somebody looks around",
    ConsumerClass.OPERATIONAL_REPORTING: "people act on reports",
    ConsumerClass.DECISION_AUTOMATION: "a model or rule decides by it",
    ConsumerClass.EXTERNAL_REGULATORY: "it leaves the company, or the law asks for it",
    ConsumerClass.SERVICE_ORCHESTRATION: "a service runs on it",
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """A consumer's dependence on a line; without fields it is unknown which it reads, and no change is safe for it."""

    consumer: str
    line: Line
    consumer_class: ConsumerClass
    fields: tuple[FieldPath, ...] = ()
    purpose: str | None = None
    latency: str | None = None
    contact: str | None = None

    @property
    def fields_known(self) -> bool:
        """Whether the consumer said what it reads."""
        return bool(self.fields)


def parse_fields(texts: list[str] | tuple[str, ...]) -> tuple[FieldPath, ...]:
    """Read field paths, each once, in one order."""
    return tuple(sorted({parse_path(text) for text in texts}, key=str))
