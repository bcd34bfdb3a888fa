"""Answers about legacy feeds and the cut-over of their consumers."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

from treaty.consumers.subscriptions import ConsumerClass
from treaty.legacy.cutover import CutoverState
from treaty.registry.model.page import Answer


class GateAnswer(Answer):
    """What a feed requires before a consumer may leave it."""

    clean_runs: int = Field(description="How many of the newest parallel runs must be clean.", examples=[5])
    absolute: float = Field(
        default=0.0, description="How far sums of money may differ beyond what findings explain.", examples=[1.0]
    )
    relative: float = Field(default=0.0, description="The same as a share of the legacy sum.", examples=[0.0001])


class CutoverAnswer(Answer):
    """How far a consumer is on its way from a legacy feed to the publication that replaces it."""

    feed: str = Field(examples=["legacy_revenue"])
    consumer: str = Field(examples=["finance_close"])
    team: str | None = Field(default=None, examples=["finance"])
    consumer_class: ConsumerClass = Field(examples=["external_regulatory"])
    critical: bool = Field(examples=[True])
    state: CutoverState = Field(examples=["parallel"])
    reasons: list[str] = Field(
        default=[],
        description="What stands between it and the next step: the cut-over, or the retirement of the feed.",
        examples=[["3 of 5 clean runs in a row; 2 more needed"]],
    )
    clean_runs: int = Field(description="Clean runs in a row.", examples=[3])
    clean_runs_needed: int = Field(examples=[5])
    acknowledged_at: datetime | None = Field(default=None)
    acknowledged_by: str | None = Field(default=None, examples=["controller"])
    approved_at: datetime | None = Field(default=None, description="When the owner of a critical consumer approved.")
    approved_by: str | None = Field(default=None, examples=["head of finance"])
    since: datetime | None = Field(default=None, description="When it cut over, or was rolled back.")
    evidence: list[str] = Field(
        description="Why it is a consumer: `declared`, `scanned`, `observed`.", examples=[["declared", "scanned"]]
    )
    last_read: date | None = Field(default=None, description="When it was last found reading the legacy feed.")


class LegacyFeedAnswer(Answer):
    """A legacy feed, which is not a contract, with the state of its consumers."""

    feed: str = Field(examples=["legacy_revenue"])
    line: str = Field(description="The publication that replaces it.", examples=["finance_recognized_sale@1"])
    owner: str = Field(examples=["Finance Systems"])
    names: list[str] = Field(
        default=[], description="Names of tables under which it is read.", examples=[["warehouse.legacy_revenue"]]
    )
    produced: str | None = Field(default=None, examples=["daily by 04:00"])
    gate: GateAnswer
    consumers: list[CutoverAnswer] = Field(default=[])
    reasons: list[str] = Field(
        default=[],
        description="Why it cannot be retired yet.",
        examples=[["support_desk has not cut over; its state is parallel"]],
    )
    newest_run: date | None = Field(default=None, description="The day of the newest parallel run.")
    declared_at: datetime = Field(examples=["2026-03-01T09:00:00Z"])
    declared_by: str = Field(examples=["pipeline"])
    retired_at: datetime | None = Field(default=None)
    retired_by: str | None = Field(default=None, examples=["finance"])
