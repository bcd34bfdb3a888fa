"""Answers about lineage events, and about who was seen reading what."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from treaty.registry.model.page import Answer

UsageState = Literal["declared", "read", "unsubscribed", "silent"]
USAGE_DESCRIPTION = (
    "`read`: subscribed, and seen reading. `unsubscribed`: seen reading without a subscription. "
    "`silent`: subscribed, but not seen reading for as long as the registry's setting says. "
    "`declared`: subscribed, and no lineage event shows whether it reads."
)
UNDECLARED_DESCRIPTION = "The fields that it was seen reading and that its subscription does not name."
UNREAD_DESCRIPTION = (
    "The fields that its subscription names and that it was not seen reading for as long as the registry's setting "
    "says, although it reads others."
)


class LineageReceiptAnswer(Answer):
    """What became of lineage events."""

    recorded: int = Field(description="Events that were stored.", examples=[2])
    known: int = Field(default=0, description="Events that had been received before.", examples=[0])
    unresolved: list[str] = Field(
        default=[],
        description="Datasets, up to 20, that belong to no contract, or to none that you may see.",
        examples=[["postgres://db.example.org:5432 shop.public.returns"]],
    )


class FailedEventAnswer(Answer):
    """An event of a batch that is not valid."""

    index: int = Field(examples=[3])
    reason: str = Field(
        examples=["the event is not a valid OpenLineage event: run.runId: input should be a valid UUID"]
    )
    retriable: bool = Field(default=False, examples=[False])


class BatchSummaryAnswer(Answer):
    """Counts of a batch of events."""

    received: int = Field(examples=[4])
    successful: int = Field(examples=[3])
    failed: int = Field(examples=[1])
    retriable: int = Field(examples=[0])
    non_retriable: int = Field(examples=[1])


class BatchAnswer(Answer):
    """What became of a batch of events, as the API of OpenLineage describes it."""

    status: Literal["success", "partial_success"] = Field(examples=["partial_success"])
    summary: BatchSummaryAnswer
    failed_events: list[FailedEventAnswer] = Field(default=[])


class AccessDecision(StrEnum):
    """What became of rows that were read without the read API."""

    SERVED = "served"
    """Read on Spark, or with `treaty read`."""
    DELIVERED = "delivered"
    """Written for the consumer by a run: to a feed, a topic or a table."""
    PURPOSE = "purpose"
    """Refused, since a data policy does not allow the purpose of the consumer."""


class AccessReport(Answer):
    """An access to published rows that bypassed the read API, without values of rows."""

    line: str
    consumer: str
    version: str
    """The contract version of the rows."""
    fields: tuple[str, ...] = ()
    rows: int | None = None
    """None if it is not known how many rows were read."""
    run: int | None = None
    """The run that published the rows."""
    decision: AccessDecision = AccessDecision.SERVED


class RecordedAccessesAnswer(Answer):
    """How many accesses were appended to the log."""

    recorded: int = Field(examples=[1])


class DataAccessAnswer(Answer):
    """One request for published rows, without values of rows."""

    seq: int = Field(description="The number of the entry.", examples=[1_204])
    at: datetime = Field(examples=["2026-11-03T04:00:00Z"])
    actor: str = Field(description="Who sent the request.", examples=["support-desk"])
    consumer: str | None = Field(default=None, description="The consumer it was for.", examples=["support-desk"])
    line: str = Field(examples=["users.daily_active@1"])
    version: str | None = Field(default=None, description="The contract version of the rows.", examples=["1.2.0"])
    fields: list[str] = Field(default=[], examples=[["user_id", "plan"]])
    filters: list[str] = Field(default=[], description="The columns that were filtered on.", examples=[["user_id"]])
    rows: int | None = Field(
        description="How many rows were sent; none if that is not known, as on Spark.", examples=[1]
    )
    purpose: str | None = Field(default=None, description="The purpose of the subscription.", examples=["support"])
    run: int | None = Field(default=None, description="The run that published the rows.", examples=[42])
    decision: str = Field(
        description="`served`, `delivered` to a feed, topic or table, `aborted` if the client left before the end, or "
        "why it was refused: "
        "`no_subscription`, `unconfirmed`, `field`, `filter`, `purpose`, `region`, `retired`.",
        examples=["served"],
    )


class UsageAnswer(Answer):
    """A consumer that was seen reading a line."""

    consumer: str = Field(examples=["ltv-dashboard"])
    line: str = Field(examples=["users.daily_active@1"])
    usage: UsageState = Field(description=USAGE_DESCRIPTION, examples=["unsubscribed"])
    fields: list[str] = Field(
        default=[], description="The fields that it was seen reading; none if events name none.", examples=[["ltv"]]
    )
    undeclared_fields: list[str] = Field(default=[], description=UNDECLARED_DESCRIPTION, examples=[["plan"]])
    unread_fields: list[str] = Field(default=[], description=UNREAD_DESCRIPTION, examples=[["signup_date"]])
    job: str = Field(examples=["airflow/ltv_dashboard.load"])
    team: str | None = Field(default=None, examples=["analytics"])
    run: str | None = Field(
        default=None, description="The run that read it last.", examples=["01993c4e-8a3c-7c3e-9d3b-5d6f1a2b3c4d"]
    )
    first_seen: datetime = Field(examples=["2026-08-01T04:00:00Z"])
    last_seen: datetime = Field(examples=["2026-11-03T04:00:00Z"])
    reported_by: str = Field(description="Who sent the last event.", examples=["airflow"])
