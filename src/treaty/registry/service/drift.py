"""Drift of meaning: profiles of the events of runs, what they show, and what owners answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from treaty.compatibility.diff import diff
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.events.drift import (
    DriftAnswerKind,
    DriftFinding,
    DriftKind,
    Profile,
    detect_drift,
    layout_of,
    merge_profiles,
    profile_problem,
)
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import DriftApi
from treaty.registry.documents import prepare
from treaty.registry.model import DriftFindingAnswer, DriftReportAnswer, Page
from treaty.registry.model.drift_answers import DriftDecisionAnswer, DriftEvidenceAnswer
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.not_found import no_line
from treaty.registry.service.context import Context
from treaty.registry.service.meaning_drafts import draft_of_meaning
from treaty.registry.service.registration import register
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store import drift as store
from treaty.registry.store.drift import StoredDecision, StoredDrift, StoredProfile
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

MAX_REFERENCES = 28
MIGRATION_WINDOW = "90d"
KEPT_FOR = timedelta(days=90)
"""How long profiles are kept."""

_MAX_TEXT = 2_000
_AHEAD = timedelta(hours=1)
"""How far a clock may be ahead of the registry."""
_DAYS_BACK = 28
_HOURS_ASIDE = (-1, 0, 1)
_FOUND = "drift.finding"
_OF_EVENTS = ("keys",)
_UNDECLARED = frozenset(
    {
        *("field_description_changed", "contract_description_changed", "event_meaning_reworded"),
        *("field_metadata_changed", "object_metadata_changed", "contract_metadata_changed"),
    }
)
"""Kinds of changes that leave what the data means as it is."""


@dataclass(frozen=True)
class _Detected:
    """What a profile shows, merged with the earlier ones of its hour."""

    profile: Profile
    findings: tuple[DriftFinding, ...]
    compared: frozenset[str]
    """The metrics that a profile before has too."""
    compared_with: int
    drifted_before: tuple[str, ...]
    """The metrics that drifted in earlier runs of the hour."""
    is_new: bool


class Drift(DriftApi):
    """The drift of meaning of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def record(self, line: str, profile: Profile) -> DriftReportAnswer:
        """Store the profile of a run and compare it with those before; runs of the same hour count as one."""
        context, named = self._context, parse_line(line)
        if profile.at > context.now + _AHEAD:
            raise InvalidDocument(f"the run began at {profile.at.isoformat()}, which is in the future; check its clock")
        detected = context.read(lambda connection, visibility: _detect(connection, visibility, named, profile))

        def write(transaction: Transaction) -> DriftReportAnswer:
            owners = _owners_of(transaction, context, named)
            authorize(context.actor, Action.NOTIFY, Resource("contract", named.contract, owners))
            if detected.is_new:
                _put_profile(transaction, named, detected, context.actor.name)
                _put_findings(transaction, named, detected, owners, context.actor.name, context.today)
            listed = _answers(transaction.connection, [*store.findings_of(transaction.connection, named).values()])
            shown = {one.fingerprint for one in detected.findings}
            return DriftReportAnswer(
                line=str(named),
                run=detected.profile.run,
                events=detected.profile.events,
                compared_with=detected.compared_with,
                findings=[_on(one, context.today) for one in listed if one.fingerprint in shown],
            )

        return context.write(write)

    def findings(
        self, *, contract: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[DriftFindingAnswer]:
        """List findings, by contract and line."""
        check_limit(limit)
        name, major, fingerprint = after(cursor, "", 0, "")
        start = (str(name), int(major), str(fingerprint)) if cursor else None

        def find(connection: Connection, visibility: Visibility) -> Page[DriftFindingAnswer]:
            rows = store.page_of_findings(connection, visibility, contract, start, limit + 1)
            page = page_of(rows, limit, lambda row: (row.line.contract, row.line.major, row.fingerprint))
            listed = [_on(one, self._context.today) for one in _answers(connection, page.items)]
            return Page(items=listed, next=page.next)

        return self._context.read(find)

    def get(self, line: str, fingerprint: str) -> DriftFindingAnswer:
        """Return a finding with its evidence."""
        named = parse_line(line)

        def find(connection: Connection, visibility: Visibility) -> DriftFindingAnswer:
            if not visibility.sees(named.contract) or not versions.versions_in_line(connection, named):
                raise no_line(named)
            return _on(_find(connection, named, fingerprint), self._context.today)

        return self._context.read(find)

    def explain(self, line: str, fingerprint: str, *, owner: str, reason: str, until: date) -> DriftFindingAnswer:
        """Answer that the contract means what it meant; the finding opens again if it lasts beyond the day."""
        if until < self._context.today:
            raise InvalidDocument(f"the explanation must hold until today or a later day, not {until}")
        return self._answer(line, fingerprint, DriftAnswerKind.EXPLAINED, owner, reason, until)

    def open_version(
        self, line: str, fingerprint: str, *, owner: str, meaning: str, guide: str | None = None
    ) -> DriftFindingAnswer:
        """Answer that the meaning changed; this registers a draft of the next MAJOR version, which declares it.

        The draft has a migration plan of 90 days if there is a `guide`, the address of a page for consumers.
        """
        return self._answer(line, fingerprint, DriftAnswerKind.NEW_VERSION, owner, meaning, None, guide)

    def _answer(
        self,
        line: str,
        fingerprint: str,
        answer: DriftAnswerKind,
        owner: str,
        reason: str,
        until: date | None,
        guide: str | None = None,
    ) -> DriftFindingAnswer:
        for name, text in {"owner": owner, "reason": reason}.items():
            if not text.strip() or len(text) > _MAX_TEXT:
                raise InvalidDocument(f"the {name} must have 1 to {_MAX_TEXT:,} characters")
        context, named = self._context, parse_line(line)

        def write(transaction: Transaction) -> DriftFindingAnswer:
            connection = transaction.connection
            owners = _owners_of(transaction, context, named)
            authorize(context.actor, Action.REGISTER, Resource("contract", named.contract, owners))
            found = _find(connection, named, fingerprint)
            draft = None
            if answer is DriftAnswerKind.NEW_VERSION:
                plan = {"guide": guide, "window": MIGRATION_WINDOW, "owner": owner.strip()} if guide else None
                draft = _open_draft(transaction, context, named, found, reason.strip(), plan)
            decided = StoredDecision(
                named,
                found.fingerprint,
                answer.value,
                owner.strip(),
                reason.strip(),
                until,
                draft,
                transaction.now,
                context.actor.name,
            )
            is_new = (named, fingerprint) not in store.decisions_of(connection, [named])
            details = {"finding": found.message[:_MAX_TEXT], "answer": answer.value, "owner": decided.owner}
            if draft or until:
                details["draft" if draft else "until"] = draft or str(until)
            transaction.record(context.actor.name, "drift.answer", str(named), after=details, details=details)
            store.put_decision(transaction, decided, is_new=is_new)
            return _on(_find(connection, named, fingerprint), context.today)

        return context.write(write)


def _detect(connection: Connection, visibility: Visibility, line: Line, profile: Profile) -> _Detected:
    """Compare a profile, with the earlier ones of its hour, with the profiles before."""
    stored = versions.find_version(connection, line.contract, profile.version)
    if stored is None or stored.line != line or not visibility.sees(line.contract):
        raise (
            no_line(line)
            if stored is None or not visibility.sees(line.contract)
            else InvalidDocument(f"{line.contract} {profile.version} is not a version of {line}")
        )
    contract = versions.contract_of(connection, stored)
    layout = layout_of(contract, profile.event_time)
    if problem := profile_problem(profile, layout):
        raise InvalidDocument(f"the profile is not one of {line.contract} {profile.version}: {problem}")
    hour = _hour(profile.at)
    earlier = store.find_profile(connection, line, profile.version, hour)
    if earlier is not None and (earlier.run, earlier.at) == (profile.run, profile.at.astimezone(UTC)):
        return _Detected(Profile.model_validate(earlier.profile), (), frozenset(), 0, (), is_new=False)
    before = None if earlier is None else Profile.model_validate(earlier.profile)
    merged = profile if before is None else merge_profiles(before, profile)
    judged, references = merged, _references(connection, line, merged, contract)
    if earlier is not None and before is not None and not references:  # the first hour of a line
        judged, references = profile, [before.without((), metrics=earlier.drifted)]
    return _Detected(
        merged,
        detect_drift(judged, references, layout),
        frozenset(name for one in references for name in _metrics(one)),
        len(references),
        earlier.drifted if earlier else (),
        is_new=True,
    )


def _references(connection: Connection, line: Line, new: Profile, contract: Contract) -> list[Profile]:
    """Return the profiles before, oldest first, without what drifted in them or was declared since."""
    hour = _hour(new.at)
    hours = None
    if not new.covers_day:
        back = range(_DAYS_BACK + 1)
        hours = [hour - timedelta(days=day, hours=aside) for day in back for aside in _HOURS_ASIDE]
        hours = [one for one in hours if one < hour]
    rows = store.profiles_before(connection, line, hour, hours, MAX_REFERENCES)
    declared = {
        version: _declared_since(connection, line, version, contract) for version in {row.version for row in rows}
    }
    profiles = []
    for row in reversed(rows):
        fields, events_changed = declared[row.version]
        metrics = {*row.drifted, *(_OF_EVENTS if events_changed else ())}
        profile = Profile.model_validate(row.profile).without(fields, metrics=metrics)
        profiles.append(profile.model_copy(update={"violations": {}}) if events_changed else profile)
    return profiles


def _declared_since(connection: Connection, line: Line, version: str, contract: Contract) -> tuple[set[str], bool]:
    """Return the fields that changed since a version, and whether something besides fields did."""
    if version == contract.version:
        return set(), False
    before = versions.find_version(connection, line.contract, version)
    if before is None:
        return set(), True
    changes = [
        change for change in diff(versions.contract_of(connection, before), contract) if change.kind not in _UNDECLARED
    ]
    return {change.field for change in changes if change.field}, any(change.field is None for change in changes)


def _metrics(profile: Profile) -> Iterable[str]:
    yield from profile.histograms
    yield from ("keys",) if profile.keys is not None else ()
    yield from (f"violation:{name}" for name in profile.violations)


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _put_profile(transaction: Transaction, line: Line, detected: _Detected, actor: str) -> None:
    profile = detected.profile
    row = StoredProfile(
        line,
        profile.version,
        _hour(profile.at),
        profile.run,
        profile.at.astimezone(UTC),
        profile.covers_day,
        profile.model_dump(mode="json"),
        tuple(sorted({*detected.drifted_before, *(metric for one in detected.findings for metric in one.metrics)})),
        transaction.now,
        actor,
    )
    store.put_profile(transaction, row, transaction.now - KEPT_FOR)


def _put_findings(
    transaction: Transaction, line: Line, detected: _Detected, owners: frozenset[str], actor: str, today: date
) -> None:
    """Store what the profile shows, and that earlier findings ended; notify of those that are to be answered."""
    connection, profile = transaction.connection, detected.profile
    known = store.findings_of(connection, line)
    before = {one.fingerprint: _on(one, today).state for one in _answers(connection, list(known.values()))}
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
            store.put_finding(transaction, _ended(earlier))
            ended.append(earlier.fingerprint)
    if opened or ended:
        details = {"run": profile.run, "opened": [one.fingerprint for one in opened], "ended": ended}
        transaction.record(actor, "drift.find", str(line), details=details)
    _notify(transaction, line, opened, owners)


def _ended(found: StoredDrift) -> StoredDrift:
    return StoredDrift(
        found.line,
        found.fingerprint,
        found.version,
        found.first_seen,
        found.last_seen,
        found.seen,
        found.run,
        is_present=False,
        finding=found.finding,
    )


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
        "findings": [{"fingerprint": one.fingerprint, "message": one.message[:_MAX_TEXT]} for one in opened[:20]],
    }
    headline = f"{line} may have changed its meaning: {opened[0].message}{more}"
    transaction.notify(_FOUND, line.contract, headline, details=details, parties=parties)


def _open_draft(
    transaction: Transaction,
    context: Context,
    line: Line,
    found: DriftFindingAnswer,
    meaning: str,
    plan: Mapping[str, str] | None,
) -> str:
    """Register a draft of the next MAJOR version and return its number."""
    connection = transaction.connection
    newest, highest = versions.versions_in_line(connection, line)[-1], versions.highest(connection, line.contract)
    last = (highest or newest).version
    contract = versions.contract_of(connection, newest)
    document = draft_of_meaning(contract, last, found.field, meaning, found.message, context.today)
    if plan is not None:
        document = {**document, "migration": plan}
    candidate = prepare(document)
    sight = context.sight(transaction)
    registered = register(transaction, context.actor, sight, context.rules, candidate, context.mode(None))
    return registered.version


def _owners_of(transaction: Transaction, context: Context, line: Line) -> frozenset[str]:
    if not context.sight(transaction).sees(line.contract) or not versions.versions_in_line(
        transaction.connection, line
    ):
        raise no_line(line)
    return versions.owners_of(transaction.connection, line)


def _find(connection: Connection, line: Line, fingerprint: str) -> DriftFindingAnswer:
    found = store.findings_of(connection, line).get(fingerprint)
    if found is None:
        raise NotFound(
            f"{line} has no drift finding {fingerprint[:40]!r}",
            f"list them with: treaty drift list --contract {line.contract}",
        )
    (answer,) = _answers(connection, [found])
    return answer


def _answers(connection: Connection, rows: Sequence[StoredDrift]) -> list[DriftFindingAnswer]:
    """Return findings with what was answered to them; their state is that of the day of the answer."""
    decisions = store.decisions_of(connection, [row.line for row in rows])
    return [_finding_answer(row, decisions.get((row.line, row.fingerprint))) for row in rows]


def _finding_answer(row: StoredDrift, decided: StoredDecision | None) -> DriftFindingAnswer:
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


def _on(found: DriftFindingAnswer, today: date) -> DriftFindingAnswer:
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
