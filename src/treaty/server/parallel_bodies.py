"""Request bodies of parallel runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from treaty.legacy.differences import (
    ComparisonResult,
    DifferenceClass,
    Disposition,
    Example,
    Finding,
    PeriodCount,
    TotalEffect,
)
from treaty.server.request_models import NO_NUL, IsoDate, RequestBody, ShortText, Text

Count = Annotated[int, Field(ge=0, lt=2**63, strict=True, examples=[1000])]
Amount = Annotated[Decimal, Field(allow_inf_nan=False, max_digits=40, examples=["-38110.50"])]
Amounts = Annotated[dict[ShortText, Amount], Field(max_length=50, examples=[{"net": "-38110.50"}])]
Value = Annotated[str, Field(max_length=2_000, pattern=NO_NUL)]


class ExampleBody(RequestBody):
    """One difference. Mask personal data before it is sent."""

    key: Value = Field(examples=["ORD-01-0012"])
    period: IsoDate | None = Field(default=None, examples=["2026-03-01"])
    legacy: Value | None = Field(default=None, examples=["S"])
    new: Value | None = Field(default=None, examples=["CANCELLED"])


class FindingBody(RequestBody):
    """Differences of one class, column and pattern."""

    difference_class: DifferenceClass = Field(examples=["status"])
    column: Value = Field(default="", examples=["state"])
    pattern: Value = Field(default="", examples=["S means RECOGNIZED, new has CANCELLED"])
    count: Count
    effects: Amounts = Field(default={})
    involved: Amounts = Field(default={})
    examples: list[ExampleBody] = Field(default=[], max_length=20)


class PeriodCountBody(RequestBody):
    """The number of differences of a class in a period."""

    period: IsoDate | None = Field(default=None, examples=["2026-03-01"])
    difference_class: DifferenceClass = Field(examples=["late"])
    count: Count


class TotalEffectBody(RequestBody):
    """The effect of all differences on one group of the totals."""

    group: list[Value] = Field(max_length=20, examples=[["DE", "2026-03-01"]])
    effects: Amounts


class ParallelRunBody(RequestBody):
    """What a parallel run found up to a day."""

    line: Text = Field(examples=["users.daily_active@1"])
    owner: ShortText = Field(examples=["Finance Systems"])
    feed: ShortText = Field(examples=["legacy_revenue"])
    publication: ShortText = Field(examples=["finance_recognized_sale"])
    as_of: IsoDate = Field(examples=["2026-03-10"])
    legacy_rows: Count
    new_rows: Count
    legacy_sums: Amounts = Field(default={})
    new_sums: Amounts = Field(default={})
    findings: list[FindingBody] = Field(default=[], max_length=1_200)
    periods: list[PeriodCountBody] = Field(default=[], max_length=10_000)
    totals: list[TotalEffectBody] = Field(default=[], max_length=2_000)

    def as_result(self) -> ComparisonResult:
        """Return it as the result of a run."""
        return ComparisonResult(
            feed=self.feed,
            publication=self.publication,
            as_of=self.as_of,
            legacy_rows=self.legacy_rows,
            new_rows=self.new_rows,
            legacy_sums=self.legacy_sums,
            new_sums=self.new_sums,
            findings=tuple(
                Finding(
                    one.difference_class,
                    one.column,
                    one.pattern,
                    one.count,
                    one.effects,
                    one.involved,
                    tuple(
                        Example(row.key, row.period.isoformat() if row.period else None, row.legacy, row.new)
                        for row in one.examples
                    ),
                )
                for one in self.findings
            ),
            periods=tuple(PeriodCount(one.period, one.difference_class, one.count) for one in self.periods),
            totals=tuple(TotalEffect(tuple(one.group), one.effects) for one in self.totals),
        )


class DispositionBody(RequestBody):
    """A decision about a finding; a semantic disagreement names the term of the contract that settles it."""

    fingerprint: ShortText = Field(examples=["4be0643f1d98573b"])
    disposition: Disposition = Field(examples=["defect_in_legacy"])
    owner: ShortText = Field(examples=["Group Accounting"])
    reason: Text = Field(examples=["cancelled orders are no revenue"])
    term: Text | None = Field(default=None, examples=["status"])
