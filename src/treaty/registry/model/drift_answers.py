"""Answers about drift of meaning."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from treaty.events.drift import DriftAnswerKind, DriftKind
from treaty.registry.model.page import Answer

DriftState = Literal["open", "explained", "new_version", "ended"]


class DriftEvidenceAnswer(Answer):
    """The share of the events in one bin, before and now."""

    label: str = Field(examples=["0"])
    before: float = Field(examples=[0.0])
    now: float = Field(examples=[0.102])


class DriftDecisionAnswer(Answer):
    """What was answered to a finding."""

    answer: DriftAnswerKind = Field(examples=["explained"])
    owner: str = Field(examples=["Scheduling"])
    reason: str = Field(examples=["a campaign for families"])
    until: date | None = Field(default=None, description="The last day of an explanation.", examples=["2026-04-30"])
    draft: str | None = Field(default=None, description="The draft with the new meaning.", examples=["2.0.0"])
    answered_at: datetime = Field(examples=["2026-03-16T09:00:00Z"])
    answered_by: str = Field(examples=["mia"])


class DriftFindingAnswer(Answer):
    """A change of meaning under an unchanged contract, with its evidence."""

    line: str = Field(examples=["gym.scheduling.class_changed@1"])
    fingerprint: str = Field(description="The same from run to run.", examples=["4be0643f1d98573b"])
    kind: DriftKind = Field(examples=["default"])
    field: str = Field(description="Empty for all timestamps and for rates.", examples=["capacity"])
    value: str | None = Field(
        default=None, description="The listed value, or the rule, that it is about.", examples=["CAPACITY"]
    )
    message: str = Field(
        examples=["capacity has no value in 0 % of the events where it was 10.2 %; 10.3 % now have 0, where it was 0 %"]
    )
    meaning: str = Field(description="What the kind means.", examples=["a default replaces missing values"])
    state: DriftState = Field(
        description=(
            "`open`: not answered. `explained`: by its owner, until a day. `new_version`: a draft has the new meaning. "
            "`ended`: the newest events look as before."
        ),
        examples=["open"],
    )
    version: str = Field(description="The version of the newest events that show it.", examples=["1.2.0"])
    first_seen: datetime = Field(examples=["2026-03-16T04:00:00Z"])
    last_seen: datetime = Field(examples=["2026-03-17T04:00:00Z"])
    seen: int = Field(description="The number of profiles that showed it.", examples=[2])
    run: int = Field(description="The last run that showed it.", examples=[18])
    moved: float = Field(description="The share of the events that are in another bin than before.", examples=[0.1])
    compared_with: int = Field(description="The number of profiles before.", examples=[10])
    events_before: int = Field(examples=[100_000])
    events: int = Field(examples=[10_000])
    evidence: list[DriftEvidenceAnswer] = Field(default=[])
    decision: DriftDecisionAnswer | None = Field(default=None)


class DriftReportAnswer(Answer):
    """What the profile of a run showed."""

    line: str = Field(examples=["gym.scheduling.class_changed@1"])
    run: int = Field(examples=[18])
    events: int = Field(description="Events of the hour of the run, of all its runs.", examples=[10_000])
    compared_with: int = Field(description="Profiles before that it was compared with.", examples=[14])
    findings: list[DriftFindingAnswer] = Field(default=[])
