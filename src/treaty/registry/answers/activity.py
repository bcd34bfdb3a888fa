"""What happened lately, what is coming, and for which teams, as the registry answers it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer

ActivityKind = Literal[
    "registration", "refusal", "proposal", "lifecycle", "migration", "subscription", "waiver", "breach"
]
UpcomingKind = Literal["deprecation", "sunset", "retirement", "expiry", "migration"]


class ActivityAnswer(Answer):
    """One thing that happened, in a sentence, and what it is about."""

    id: int
    at: datetime
    actor: str
    kind: ActivityKind
    did: str = Field(description="What was done, in a word: registered, refused, deprecated, moved …")
    headline: str = Field(description="The same in a sentence; the contract stands beside it.")
    contract: str | None = Field(default=None, description="Null where it concerns more than one.")
    version: str | None = None
    before: str | None = Field(default=None, description="The version that it followed.")
    line: str | None = Field(default=None, description="Null where there is none, or none yet.")
    consumer: str | None = None
    migration: int | None = None
    proposal: int | None = None


class UpcomingAnswer(Answer):
    """A day in the life of a line that is near: when, what then, and whom it concerns."""

    on: date
    kind: UpcomingKind
    headline: str
    contract: str
    line: str
    versions: list[str] = Field(default=[], description="Of the line, those that it is about.")
    owners: list[str] = Field(default=[])
    consumers: int = Field(default=0, description="How many read the line.")
    migration: int | None = None
    link: str | None = Field(default=None, description="The plan or guide that was announced with it.")


class TeamAnswer(Answer):
    """A team that owns or reads something; a consumer that names no team speaks for itself."""

    team: str
    owns: int = Field(description="How many contracts it owns.")
    reads: int = Field(description="How many lines its consumers read.")
    consumers: int
    waiting: int = Field(default=0, description="How many moves to a next line wait for its consumers.")
