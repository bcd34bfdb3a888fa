"""Drift of meaning: profiles of the events of runs, what they show, and what owners answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.events.drift import (
    DriftAnswerKind,
    Profile,
)
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import DriftApi
from treaty.registry.documents import prepare
from treaty.registry.model import DriftFindingAnswer, DriftReportAnswer, Page
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.not_found import no_line
from treaty.registry.service.context import Context
from treaty.registry.service.drift_detection import detect
from treaty.registry.service.drift_findings import (
    MAX_TEXT,
    answer_on,
    find_finding,
    finding_answers,
    put_findings,
    put_profile,
)
from treaty.registry.service.meaning_drafts import draft_of_meaning
from treaty.registry.service.registration import register
from treaty.registry.store import Connection, versions
from treaty.registry.store import drift as store
from treaty.registry.store.drift import StoredDecision
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

MIGRATION_WINDOW = "90d"
_AHEAD = timedelta(hours=1)
"""How far a clock may be ahead of the registry."""


class Drift(DriftApi):
    """The drift of meaning of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def record(self, line: str, profile: Profile) -> DriftReportAnswer:
        """Store the profile of a run and compare it with those before; runs of the same hour count as one."""
        context, named = self._context, parse_line(line)
        if profile.at > context.now + _AHEAD:
            raise InvalidDocument(f"the run began at {profile.at.isoformat()}, which is in the future; check its clock")
        detected = context.read(lambda connection, visibility: detect(connection, visibility, named, profile))

        def write(transaction: Transaction) -> DriftReportAnswer:
            owners = _owners_of(transaction, context, named)
            authorize(context.actor, Action.NOTIFY, Resource("contract", named.contract, owners))
            if detected.is_new:
                put_profile(transaction, named, detected, context.actor.name)
                put_findings(transaction, named, detected, owners, context.actor.name, context.today)
            listed = finding_answers(
                transaction.connection, [*store.findings_of(transaction.connection, named).values()]
            )
            shown = {one.fingerprint for one in detected.findings}
            return DriftReportAnswer(
                line=str(named),
                run=detected.profile.run,
                events=detected.profile.events,
                compared_with=detected.compared_with,
                findings=[answer_on(one, context.today) for one in listed if one.fingerprint in shown],
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
            listed = [answer_on(one, self._context.today) for one in finding_answers(connection, page.items)]
            return Page(items=listed, next=page.next)

        return self._context.read(find)

    def get(self, line: str, fingerprint: str) -> DriftFindingAnswer:
        """Return a finding with its evidence."""
        named = parse_line(line)

        def find(connection: Connection, visibility: Visibility) -> DriftFindingAnswer:
            if not visibility.sees(named.contract) or not versions.versions_in_line(connection, named):
                raise no_line(named)
            return answer_on(find_finding(connection, named, fingerprint), self._context.today)

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
            if not text.strip() or len(text) > MAX_TEXT:
                raise InvalidDocument(f"the {name} must have 1 to {MAX_TEXT:,} characters")
        context, named = self._context, parse_line(line)

        def write(transaction: Transaction) -> DriftFindingAnswer:
            connection = transaction.connection
            owners = _owners_of(transaction, context, named)
            authorize(context.actor, Action.REGISTER, Resource("contract", named.contract, owners))
            found = find_finding(connection, named, fingerprint)
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
            details = {"finding": found.message[:MAX_TEXT], "answer": answer.value, "owner": decided.owner}
            if draft or until:
                details["draft" if draft else "until"] = draft or str(until)
            transaction.record(context.actor.name, "drift.answer", str(named), after=details, details=details)
            store.put_decision(transaction, decided, is_new=is_new)
            return answer_on(find_finding(connection, named, fingerprint), context.today)

        return context.write(write)


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
