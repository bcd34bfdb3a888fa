"""Answers about parallel runs of legacy feeds."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from treaty.legacy.differences import DifferenceClass, Disposition
from treaty.registry.model.page import Answer

FindingState = Literal["new", "open", "disposed"]
_MONEY = [{"net": "-38110.50"}]


class ExampleAnswer(Answer):
    """One difference. Values of classified columns are masked."""

    key: str = Field(examples=["ORD-01-0012"])
    period: date | None = Field(default=None, examples=["2026-03-01"])
    legacy: str | None = Field(default=None, examples=["S"])
    new: str | None = Field(default=None, examples=["CANCELLED"])


class DispositionAnswer(Answer):
    """What was decided about a finding."""

    disposition: Disposition = Field(examples=["semantic_disagreement"])
    owner: str = Field(examples=["Group Accounting"])
    reason: str = Field(examples=["cancelled orders are no revenue since 2026"])
    term: str | None = Field(default=None, description="The contract term that settles it.", examples=["status"])
    decided_at: datetime = Field(examples=["2026-03-02T09:00:00Z"])
    decided_by: str = Field(examples=["controller"])


class FindingAnswer(Answer):
    """Differences of one class, column and pattern."""

    fingerprint: str = Field(description="The same from day to day.", examples=["4be0643f1d98573b"])
    difference_class: DifferenceClass = Field(examples=["status"])
    column: str = Field(default="", examples=["state"])
    pattern: str = Field(default="", examples=["S means RECOGNIZED, new has CANCELLED"])
    title: str = Field(examples=["a status interpreted differently of state: S means RECOGNIZED, new has CANCELLED"])
    count: int = Field(examples=[1204])
    effects: dict[str, Decimal] = Field(
        default={}, description="By money column: the sum of new minus legacy.", examples=_MONEY
    )
    involved: dict[str, Decimal] = Field(
        default={}, description="By money column: the sum over the rows in question.", examples=_MONEY
    )
    examples: list[ExampleAnswer] = Field(default=[])
    state: FindingState = Field(
        default="new",
        description="`new`: this run is the first that found it. `open`: nothing is decided yet. `disposed`: decided.",
        examples=["new"],
    )
    first_seen: date | None = Field(default=None, examples=["2026-03-01"])
    disposition: DispositionAnswer | None = Field(default=None)


class PeriodCountAnswer(Answer):
    """The number of differences of a class in a period."""

    period: date | None = Field(default=None, examples=["2026-03-01"])
    difference_class: DifferenceClass = Field(examples=["late"])
    count: int = Field(examples=[3])


class TotalEffectAnswer(Answer):
    """The effect of all differences on one group of the declared totals."""

    group: list[str] = Field(examples=[["DE", "2026-03-01"]])
    effects: dict[str, Decimal] = Field(examples=_MONEY)


class ParallelRunAnswer(Answer):
    """What a parallel run found up to a day; new findings first, then open ones."""

    feed: str = Field(examples=["legacy_revenue"])
    line: str = Field(examples=["retail.publications.finance_recognized_sale@1"])
    owner: str = Field(description="The owner of the feed.", examples=["Finance Systems"])
    as_of: date = Field(examples=["2026-03-10"])
    legacy_rows: int = Field(examples=[1000])
    new_rows: int = Field(examples=[960])
    legacy_sums: dict[str, Decimal] = Field(default={}, examples=_MONEY)
    new_sums: dict[str, Decimal] = Field(default={}, examples=_MONEY)
    differences: int = Field(examples=[272])
    undisposed: int = Field(description="Findings about which nothing is decided.", examples=[2])
    clean: bool = Field(description="Whether every finding is disposed.", examples=[False])
    findings: list[FindingAnswer] = Field(default=[])
    periods: list[PeriodCountAnswer] = Field(default=[])
    totals: list[TotalEffectAnswer] = Field(default=[])
    recorded_at: datetime = Field(examples=["2026-03-11T04:20:00Z"])
    recorded_by: str = Field(examples=["pipeline"])
