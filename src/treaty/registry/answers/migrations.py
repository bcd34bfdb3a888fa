"""Migrations as the registry answers them: the board, and the way over."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer


class MigrationAnswer(Answer):
    """The move of consumers from one line to the next."""

    id: int
    contract: str
    before: str = Field(description="The line that consumers leave.")
    after: str = Field(description="The line they move to.")
    before_version: str
    after_version: str
    state: Literal["proposed", "open", "closed", "withdrawn"]
    owner: str | None = None
    guide: str | None = None
    window: str | None = None
    opened_at: datetime
    ends_on: date | None = None
    closed_at: datetime | None = None
    proposal: int | None = Field(default=None, description="The proposal that waits for acknowledgements.")
    proven: bool | None = Field(default=None, description="Whether the shims kept their word on rows; null: not tried.")
    counts: dict[str, int] = Field(default={}, description="How many consumers stand where.")
    missing: list[str] = Field(default=[], description="The critical consumers whose acknowledgement is missing.")


class MigrationConsumerAnswer(Answer):
    """Where one consumer stands in a migration."""

    consumer: str
    consumer_class: str
    critical: bool
    effect: Literal["hit", "unknown", "safe"]
    state: Literal["waiting", "acknowledged", "moved", "waived"]
    fields: list[str] = Field(default=[], description="The fields of the old line that it reads.")
    team: str | None = None
    contact: str | None = None
    reason: str | None = None
    until: date | None = None
    changed_at: datetime | None = None
    changed_by: str | None = None


class BoardAnswer(MigrationAnswer):
    """A migration with where each of its consumers stands, and its proof."""

    consumers: list[MigrationConsumerAnswer]
    proof: dict[str, Any] | None = None


class MigrationPathAnswer(Answer):
    """The way over between two versions: how each shape is made from the other, and a guide for each consumer."""

    contract: str
    before: str
    after: str
    path: dict[str, Any]
    views: list[dict[str, Any]]
    guides: list[dict[str, Any]]
