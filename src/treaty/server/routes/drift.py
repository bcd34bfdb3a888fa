"""Routes for drift of meaning: profiles of events, findings and their answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field, model_validator

from treaty.events.drift import DriftAnswerKind, Profile
from treaty.registry.access.permissions import Action
from treaty.registry.model import DriftFindingAnswer, DriftReportAnswer, Page
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.request_models import IsoDate, RequestBody, ShortText, Text, Uri
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("drift of meaning", API)
LineName = Annotated[str, Path(min_length=1, max_length=300, examples=["gym.scheduling.class_changed@1"])]
Fingerprint = Annotated[str, Path(min_length=1, max_length=64, examples=["4be0643f1d98573b"])]


class ProfileBody(RequestBody):
    """What the accepted events of a run looked like."""

    line: Text = Field(examples=["gym.scheduling.class_changed@1"])
    profile: Profile


class DriftAnswerBody(RequestBody):
    """An answer to a finding: an explanation until a day, or a new version, for which the reason is its meaning."""

    answer: DriftAnswerKind = Field(examples=["explained"])
    owner: ShortText = Field(examples=["Scheduling"])
    reason: Text = Field(examples=["a campaign for families"])
    until: IsoDate | None = Field(default=None, examples=["2026-04-30"])
    guide: Uri | None = Field(default=None, description="Where consumers read how to move to the new version.")

    @model_validator(mode="after")
    def _check_until(self) -> DriftAnswerBody:
        if (self.answer is DriftAnswerKind.EXPLAINED) != (self.until is not None):
            raise ValueError("an explanation needs the day 'until' which it holds, and a new version has none")
        if self.guide is not None and self.until is not None:
            raise ValueError("an explanation has no guide")
        return self


@routes.put("/drift/profiles", Action.NOTIFY, (404,))
def record_event_profile(registry: CallerRegistry, body: ProfileBody) -> DriftReportAnswer:
    """Store the profile of a run and compare it with those before. Runs that began in the same hour count as one."""
    return registry.drift.record(body.line, body.profile)


@routes.get("/drift/findings", Action.READ)
def list_drift_findings(
    registry: CallerRegistry,
    contract: Annotated[str | None, Query(max_length=256)] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[DriftFindingAnswer]:
    """List drift findings, by contract and line."""
    return registry.drift.findings(contract=contract, cursor=cursor, limit=limit)


@routes.get("/drift/findings/{line}/{fingerprint}", Action.READ, (404,))
def get_drift_finding(registry: CallerRegistry, line: LineName, fingerprint: Fingerprint) -> DriftFindingAnswer:
    """Return a drift finding with its evidence."""
    return registry.drift.get(line, fingerprint)


@routes.put("/drift/findings/{line}/{fingerprint}/answer", Action.REGISTER, (404, 409))
def answer_drift_finding(
    registry: CallerRegistry, line: LineName, fingerprint: Fingerprint, body: DriftAnswerBody
) -> DriftFindingAnswer:
    """Answer a drift finding: explain it until a day, or register a draft of the next MAJOR version."""
    if body.until is not None:
        return registry.drift.explain(line, fingerprint, owner=body.owner, reason=body.reason, until=body.until)
    return registry.drift.open_version(line, fingerprint, owner=body.owner, meaning=body.reason, guide=body.guide)
