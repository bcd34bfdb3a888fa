"""Drift findings of a line: stored with the profiles that show them, notified, and returned with their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, timedelta
from typing import Any

from treaty.contracts.versions import Line
from treaty.errors import NotFound
from treaty.events.drift import DriftAnswerKind, DriftFinding, DriftKind
from treaty.registry.model import DriftFindingAnswer
from treaty.registry.model.drift_answers import DriftDecisionAnswer, DriftEvidenceAnswer
from treaty.registry.service.drift_detection import DetectedDrift, hour_of
from treaty.registry.store import Connection, subscriptions
from treaty.registry.store import drift as store
from treaty.registry.store.drift import StoredDecision, StoredDrift, StoredProfile
from treaty.registry.store.transaction import Transaction

KEPT_FOR = timedelta(days=90)
"""How long profiles are kept."""
MAX_TEXT = 2_000
_FOUND = "drift.finding"


def put_profile(transaction: Transaction, line: Line, detected: DetectedDrift, actor: str) -> None:
    """Store a profile, and delete those that are no longer kept."""
    profile = detected.profile
    row = StoredProfile(
        line,
        profile.version,
        hour_of(profile.at),
        profile.run,
        profile.at.astimezone(UTC),
        profile.covers_day,
        profile.model_dump(mode="json"),
        tuple(sorted({*detected.drifted_before, *(metric for one in detected.findings for metric in one.metrics)})),
        transaction.now,
        actor,
    )
    store.put_profile(transaction, row, transaction.now - KEPT_FOR)


def put_findings(
    transaction: Transaction, line: Line, detected: DetectedDrift, owners: frozenset[str], actor: str, today: date
) -> None:
    """Store what the profile shows, and that earlier findings ended; notify of those that are to be answered."""
    connection, profile = transaction.connection, detected.profile
    known = store.findings_of(connection, line)
    before = {one.fingerprint: answer_on(one, today).state for one in finding_answers(connection, list(known.values()))}
    at = profile.at.astimezone(UTC)
    opened = []
    for found in detected.findings:
        earlier = known.get(found.fingerprint)
        store.put_finding(
            transaction,
            StoredDrift(
                line,
                found.fingerprint,
                profile.version,
                earlier.first_seen if earlier else at,
                at,
                (earlier.seen if earlier else 0) + 1,
                profile.run,
                is_present=True,
                finding=_data(found),
            ),
        )
        if earlier is None or before[found.fingerprint] == "ended" or _has_lapsed(connection, line, found, today):
            opened.append(found)
    shown = {one.fingerprint for one in detected.findings}
    ended = []
    for earlier in known.values():
        is_judged = any(metric in detected.compared for metric in earlier.finding["metrics"])
        if earlier.is_present and earlier.fingerprint not in shown and is_judged and earlier.version == profile.version:
            store.put_finding(transaction, replace(earlier, is_present=False))
            ended.append(earlier.fingerprint)
    if opened or ended:
        details = {"run": profile.run, "opened": [one.fingerprint for one in opened], "ended": ended}
        transaction.record(actor, "drift.find", str(line), details=details)
    _notify(transaction, line, opened, owners)


def _has_lapsed(connection: Connection, line: Line, found: DriftFinding, today: date) -> bool:
    """Return whether the explanation of a finding ended yesterday, so that its parties hear of it once."""
    decided = store.decisions_of(connection, [line]).get((line, found.fingerprint))
    return decided is not None and decided.until is not None and decided.until == today - timedelta(days=1)


def _notify(transaction: Transaction, line: Line, opened: Sequence[DriftFinding], owners: frozenset[str]) -> None:
    """Notify the owners, and the consumers that read what drifted."""
    if not opened:
        return
    parties = set(owners)
    for reader in subscriptions.subscribers(transaction.connection, line):
        read = {str(path) for path in reader.subscription.fields}
        if not read or any(not one.field or one.field in read for one in opened):
            parties |= {reader.subscription.consumer} | ({reader.team} if reader.team else set())
    more = f" and {len(opened) - 1} more" if len(opened) > 1 else ""
    details = {
        "line": str(line),
        "findings": [{"fingerprint": one.fingerprint, "message": one.message[:MAX_TEXT]} for one in opened[:20]],
    }
    headline = f"{line} may have changed its meaning: {opened[0].message}{more}"
    transaction.notify(_FOUND, line.contract, headline, details=details, parties=parties)


def find_finding(connection: Connection, line: Line, fingerprint: str) -> DriftFindingAnswer:
    """Return a finding with what was answered to it."""
    found = store.findings_of(connection, line).get(fingerprint)
    if found is None:
        raise NotFound(
            f"{line} has no drift finding {fingerprint[:40]!r}",
            f"list them with: treaty drift list --contract {line.contract}",
        )
    (answer,) = finding_answers(connection, [found])
    return answer


def finding_answers(connection: Connection, rows: Sequence[StoredDrift]) -> list[DriftFindingAnswer]:
    """Return findings with what was answered to them; their state is that of the day of the answer."""
    decisions = store.decisions_of(connection, [row.line for row in rows])
    return [_answer_of(row, decisions.get((row.line, row.fingerprint))) for row in rows]


def _answer_of(row: StoredDrift, decided: StoredDecision | None) -> DriftFindingAnswer:
    data = row.finding
    decision = None
    if decided is not None:
        decision = DriftDecisionAnswer(
            answer=DriftAnswerKind(decided.answer),
            owner=decided.owner,
            reason=decided.reason,
            until=decided.until,
            draft=decided.draft,
            answered_at=decided.answered_at,
            answered_by=decided.answered_by,
        )
    return DriftFindingAnswer(
        line=str(row.line),
        fingerprint=row.fingerprint,
        kind=DriftKind(data["kind"]),
        field=data["field"],
        value=data["value"],
        message=data["message"],
        meaning=DriftKind(data["kind"]).words,
        state="open" if row.is_present else "ended",
        version=row.version,
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        seen=row.seen,
        run=row.run,
        moved=data["moved"],
        compared_with=data["runs"],
        events_before=data["events_before"],
        events=data["events"],
        evidence=[DriftEvidenceAnswer(**bar) for bar in data["evidence"]],
        decision=decision,
    )


def answer_on(found: DriftFindingAnswer, today: date) -> DriftFindingAnswer:
    """Return a finding with the state that its answer gives it on a day."""
    decision, state = found.decision, found.state
    if decision is not None and decision.answer is DriftAnswerKind.NEW_VERSION:
        state = "new_version"
    elif decision is not None and decision.until is not None and decision.until >= today and state == "open":
        state = "explained"
    return found.model_copy(update={"state": state})


def _data(found: DriftFinding) -> dict[str, Any]:
    return {
        "kind": found.kind.value,
        "field": found.field,
        "value": found.value,
        "metrics": list(found.metrics),
        "message": found.message,
        "moved": round(found.moved, 6),
        "runs": found.runs,
        "events_before": found.events_before,
        "events": found.events,
        "evidence": [{"label": bar.label, "before": bar.before, "now": bar.now} for bar in found.evidence],
    }
