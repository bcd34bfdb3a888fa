"""Subscriptions: who depends on which line, which fields, for what, and how soon."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.paths import FieldPath, parse_path
from treaty.errors import InvalidDocument

_LINE = re.compile(r"(?P<contract>.+)@(?P<major>0|[1-9][0-9]{0,8})", re.DOTALL)


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


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """The versions of a contract that share a MAJOR, such as ``orders@1``; each has its own namespace."""

    contract: str
    major: int

    def __str__(self) -> str:
        return f"{self.contract}@{self.major}"

    @property
    def namespace(self) -> str:
        """The name its tables and topics carry."""
        return f"{re.sub('[^0-9A-Za-z_]', '_', self.contract)}_v{self.major}"


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


def parse_line(text: str) -> Line:
    """Read a line as it is printed."""
    found = _LINE.fullmatch(text)
    if found is None:
        raise InvalidDocument(f"{text!r} is no line; write it like orders@1")
    return Line(found["contract"], int(found["major"]))


def parse_fields(texts: list[str] | tuple[str, ...]) -> tuple[FieldPath, ...]:
    """Read field paths, each once, in one order."""
    return tuple(sorted({parse_path(text) for text in texts}, key=str))
