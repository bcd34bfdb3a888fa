"""Measures as the registry answers them: how promises are kept, now and over time."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from treaty.registry.answers.answer import Answer

Health = Literal["healthy", "warning", "failing"]


class MeasureAnswer(Answer):
    """One number about a contract's data at one moment, and how it stands to what is promised."""

    contract: str
    name: str
    at: datetime
    value: float
    unit: str
    promise: float | None = Field(default=None, description="What is promised, in the same unit.")
    state: Health | None = Field(default=None, description="Null where nothing is promised.")
    details: dict[str, Any] = Field(default={})


class RecordedAnswer(Answer):
    """How many measures are new; those of contracts that are not registered were passed over."""

    recorded: int
    unknown: list[str] = Field(default=[], description="Contracts that are not registered.")


class DayAnswer(Answer):
    """How one day went, and by which measures it was no better."""

    day: date
    state: Health
    by: list[str]


class GridRowAnswer(Answer):
    """One contract, how it is now, and how its days went; a day without judged measures is left out."""

    contract: str
    name: str | None = None
    domain: str | None = None
    health: Health | None = None
    days: list[DayAnswer]
