"""Request bodies of legacy feeds and of the cut-over of their consumers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from treaty.legacy.cutover import Gate
from treaty.server.request_models import RequestBody, ShortText, Text

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


class GateBody(RequestBody):
    """What a feed requires before a consumer may leave it."""

    clean_runs: int = Field(default=3, ge=1, le=100, strict=True, examples=[5])
    absolute: Tolerance = Field(default=0.0, examples=[1.0])
    relative: Tolerance = Field(default=0.0, examples=[0.0001])

    def as_gate(self) -> Gate:
        """Return it as a gate."""
        return Gate(self.clean_runs, self.absolute, self.relative)


class LegacyFeedBody(RequestBody):
    """A legacy feed as a project declares it."""

    feed: ShortText = Field(examples=["legacy_revenue"])
    line: Text = Field(examples=["users.daily_active@1"])
    owner: ShortText = Field(examples=["Finance Systems"])
    names: list[ShortText] = Field(default=[], max_length=50, examples=[["warehouse.legacy_revenue"]])
    consumers: list[ShortText] = Field(default=[], max_length=500, examples=[["finance_close"]])
    gate: GateBody = Field(default=GateBody())
    produced: Text | None = Field(default=None, examples=["daily by 04:00"])


class CutoverBody(RequestBody):
    """The consumer that cuts over."""

    consumer: ShortText = Field(examples=["finance_close"])


class CutoverNoteBody(RequestBody):
    """The consumer whose cut-over is acknowledged or approved, and an optional note."""

    consumer: ShortText = Field(examples=["finance_close"])
    note: Text | None = Field(default=None, examples=["the report of 10 March agrees with our books"])


class RollbackBody(RequestBody):
    """The consumer that goes back to the legacy feed, and why."""

    consumer: ShortText = Field(examples=["finance_close"])
    reason: Text = Field(examples=["the close of March needs the old account codes"])
