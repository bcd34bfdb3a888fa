"""Consumers, and what a change means for them, as the registry answers it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer


class SubscriptionAnswer(Answer):
    """Who depends on which line, which fields, for what; without fields it is unknown which are read."""

    consumer: str
    line: str
    consumer_class: str
    fields: list[str]
    purpose: str | None = None
    latency: str | None = None
    contact: str | None = None
    team: str | None = None
    since: datetime
    warnings: list[str] = Field(default=[])


class NodeAnswer(Answer):
    """A line or consumer that is reached, how far away it is, and by which way."""

    name: str
    kind: Literal["line", "consumer"]
    distance: int
    path: list[str]


class GraphAnswer(Answer):
    """Who depends on a line or consumer, or what it rests on."""

    node: str
    direction: Literal["upstream", "downstream"]
    nodes: list[NodeAnswer]
    more: int = Field(default=0, description="How many more are reached than are listed.")


class AffectedAnswer(Answer):
    """What a change means for one consumer or one line that is made from this one."""

    name: str
    kind: Literal["consumer", "line"]
    effect: Literal["hit", "unknown", "safe", "exposed"]
    consumer_class: str | None = None
    contact: str | None = None
    critical: bool = False
    fields: list[str] = Field(default=[], description="The changed fields that it reads.")
    reasons: list[str] = Field(default=[])
    path: list[str] = Field(default=[])


class ImpactAnswer(Answer):
    """Whom a change hits, by field."""

    contract: str
    line: str
    before: str | None
    after: str
    compatible: bool
    required_version: str | None
    affected: list[AffectedAnswer]
    more: int = Field(default=0, description="How many more are affected than are listed.")

    def having(self, *effects: str) -> list[AffectedAnswer]:
        """Return those for whom the change has one of these effects."""
        return [one for one in self.affected if one.effect in effects]


WAITS_FOR_CONSUMERS = "waits_for_consumers"
WAITS_FOR_APPROVAL = "waits_for_approval"


class ReasonAnswer(Answer):
    """One thing that speaks against, or that somebody should know."""

    kind: str
    message: str
    severity: Literal["error", "warning"] = "error"


class DecisionAnswer(Answer):
    """Yes or no to one question, with every reason."""

    question: str
    answer: bool
    reasons: list[ReasonAnswer]
    affected: list[AffectedAnswer] = Field(default=[])
    required_version: str | None = None

    @property
    def waits(self) -> list[str]:
        """What a version waits for that is proposed first."""
        return [one.message for one in self.reasons if one.kind in (WAITS_FOR_CONSUMERS, WAITS_FOR_APPROVAL)]
