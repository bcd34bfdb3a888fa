"""Register a version: judge it, store it, and write the audit entry and the notices."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from treaty.compatibility import Mode
from treaty.consumers.impact import BreakingChanges, Effect, Impact, compute_impact
from treaty.contracts.model import Contract
from treaty.errors import Conflict, Unavailable
from treaty.governance.inheritance import is_policy
from treaty.governance.lifecycle import day_of
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.documents import PreparedDocument, merge_search_words, search_words, summary_of
from treaty.registry.model import Registration
from treaty.registry.report import VersionRefused
from treaty.registry.rules import RegistryRules
from treaty.registry.service.context import Context
from treaty.registry.service.judgement import Judgement, judge
from treaty.registry.service.migration_start import begin, propose, readers, waits
from treaty.registry.service.proposals import open_proposal
from treaty.registry.store import audit_log, subscriptions, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion


class InadmissibleVersion(VersionRefused):
    """A refusal with the judgement behind it, for the audit entry."""

    def __init__(self, judgement: Judgement) -> None:
        contract = judgement.candidate.contract
        super().__init__(f"{contract.id} {contract.version}", judgement.report)
        self.judgement = judgement


def register(
    transaction: Transaction, actor: Actor, rules: RegistryRules, candidate: PreparedDocument, mode: Mode
) -> Registration:
    """Register an admissible version; a breaking one may be proposed first."""
    judgement = _judge_or_refuse(transaction, rules, candidate, mode, actor)
    contract = candidate.contract
    affected_readers = readers(transaction.connection, judgement) if judgement.verdict.opens_line else []
    waiting = waits(rules, judgement, affected_readers)
    if waiting:
        proposal = open_proposal(transaction, actor, judgement)
        if waiting.consumers:
            propose(transaction, actor.name, judgement, affected_readers, proposal)
        return Registration(
            status="proposed",
            dataset_id=contract.id,
            version=contract.version,
            compatibility=judgement.report,
            proposal=proposal,
            waits_for=list(waiting.consumers),
        )
    store_version(transaction, actor.name, rules, judgement)
    return Registration(
        status="registered", dataset_id=contract.id, version=contract.version, compatibility=judgement.report
    )


def register_approved(
    transaction: Transaction, proposer: str, rules: RegistryRules, candidate: PreparedDocument, mode: Mode
) -> None:
    """Register an approved version; it is judged again, because the history may have changed."""
    store_version(transaction, proposer, rules, _judge_or_refuse(transaction, rules, candidate, mode, None))


def check_may_register(actor: Actor, rules: RegistryRules, judgement: Judgement, requested: Mode) -> None:
    """Check the permission to register: of the current owners, or of the named owners of a new contract.

    Giving a contract to other teams, or asking for less than the registry's mode, is for its owners; what concerns
    policies (being one, ceasing to be one, leaving one) for those who govern.
    """
    contract, before, predecessor = judgement.candidate.contract, judgement.before, judgement.verdict.before
    named = frozenset(owner.team for owner in contract.owners)
    resource = Resource("contract", contract.id, before.teams if before else named)
    actions = [Action.GOVERN if is_policy(contract) else Action.REGISTER]
    if before is not None and (before.teams != named or not requested.covers(rules.mode)):
        actions.append(Action.ADVANCE)
    if predecessor is not None and (is_policy(predecessor) or _leaves_policy(predecessor, contract)):
        actions.append(Action.GOVERN)
    for action in sorted(actions):
        authorize(actor, action, resource)


def _leaves_policy(before: Contract, after: Contract) -> bool:
    return before.treaty.parent is not None and before.treaty.parent != after.treaty.parent


def store_version(transaction: Transaction, actor: str, rules: RegistryRules, judgement: Judgement) -> None:
    """Store an admissible version with its audit entry, migration and notices."""
    candidate = judgement.candidate
    contract = candidate.contract
    digest = candidate.digest
    affected = _affected_consumers(transaction, judgement)
    seq = transaction.record(
        actor,
        "contract.register",
        f"{contract.id} {contract.version}",
        before=judgement.before.digest if judgement.before else None,
        after=digest,
        details=_registration_details(judgement, affected),
    )
    _update_search_row(transaction, candidate, judgement.before)
    versions.add_version(transaction, _row(transaction, actor, judgement, seq, digest))
    if contract.treaty.lineage or judgement.before is not None:
        subscriptions.replace_upstreams(transaction, candidate.line, contract.treaty.lineage, seq)
    if judgement.before is None:
        subscriptions.find_upstreams_of_newcomer(transaction, candidate.line, seq)
    begin(transaction, actor, rules, judgement)
    _notify_parties(transaction, judgement, affected)


@dataclass(frozen=True, slots=True)
class _AffectedConsumer:
    """An affected consumer and its team."""

    impact: Impact
    team: str | None


def _affected_consumers(transaction: Transaction, judgement: Judgement) -> list[_AffectedConsumer]:
    if judgement.before is None:
        return []
    subscribed = subscriptions.subscribers(transaction.connection, judgement.before.line)
    teams = {subscriber.subscription.consumer: subscriber.team for subscriber in subscribed}
    impacts = compute_impact(judgement.verdict, [subscriber.subscription for subscriber in subscribed])
    return [
        _AffectedConsumer(impact, teams[impact.subscription.consumer])
        for impact in impacts
        if impact.effect is not Effect.SAFE
    ]


def _registration_details(judgement: Judgement, affected: list[_AffectedConsumer]) -> dict[str, Any]:
    """Return the details of a registration for the audit log."""
    noted: dict[str, Any] = {"mode": str(judgement.verdict.mode), "compatible": judgement.verdict.compatible}
    if judgement.before is not None:
        opens = judgement.verdict.opens_line
        noted |= {"before": judgement.before.version, "opens_line": opens, "hits": len(affected)}
    return noted


def _judge_or_refuse(
    transaction: Transaction, rules: RegistryRules, candidate: PreparedDocument, mode: Mode, actor: Actor | None
) -> Judgement:
    """Judge a candidate; refuse it without permission, or if it exists or is not admissible."""
    judgement = judge(transaction.connection, rules, candidate, mode, transaction.now.date())
    if actor is not None:
        check_may_register(actor, rules, judgement, mode)
    _refuse_if_not_new(transaction, judgement)
    _refuse_if_inadmissible(judgement)
    return judgement


def _refuse_if_inadmissible(judgement: Judgement) -> None:
    if not judgement.admissible:
        raise InadmissibleVersion(judgement)


def _refuse_if_not_new(transaction: Transaction, judgement: Judgement) -> None:
    contract = judgement.candidate.contract
    if judgement.before is None:
        return
    if versions.is_registered(transaction.connection, contract.id, contract.version):
        raise Conflict(
            f"version {contract.version!r} of {contract.id!r} is already registered; history does not change"
        )


def _row(transaction: Transaction, actor: str, judgement: Judgement, seq: int, digest: str) -> dict[str, Any]:
    candidate, days = judgement.candidate, judgement.days
    contract = candidate.contract
    major, minor, patch = candidate.parts
    notice = contract.treaty.deprecation
    return {
        "seq": seq,
        "contract": contract.id,
        "version": contract.version,
        "major": major,
        "minor": minor,
        "patch": patch,
        "form": str(contract.form),
        "media": candidate.media,
        "document": candidate.content,
        "parsed": candidate.parsed,
        "digest": digest,
        "mode": str(judgement.verdict.mode),
        "owners": [{"team": owner.team, "contact": owner.contact} for owner in contract.owners],
        "registered_at": transaction.now,
        "registered_by": actor,
        "status": str(candidate.status),
        "deprecation_uri": notice.migration_guide if notice else None,
        "announced_on": days.announced if days else None,
        "sunset_on": days.sunset if days else None,
        "retire_on": days.retirement if days else None,
        "expires_on": day_of(contract.treaty.expires, "expires") if contract.treaty.expires else None,
    }


def _update_search_row(transaction: Transaction, candidate: PreparedDocument, before: StoredVersion | None) -> None:
    """Update the search row of a contract: the highest version describes it, every line in use adds its words."""
    contract = candidate.contract
    words = candidate.words
    summary: dict[str, Any] = {
        "updated_at": transaction.now,
        "version": contract.version,
        "name": contract.name,
        "domain": contract.domain,
        "tier": contract.treaty.tier,
        "parent": contract.treaty.parent,
        "summary": summary_of(contract),
        **words,
    }
    if before is None:
        versions.add_contract(transaction, {"id": contract.id, "created_at": transaction.now, **summary})
        return
    highest = versions.highest(transaction.connection, contract.id)
    lines = versions.heads_of_other_lines(transaction.connection, contract.id, candidate.parts[0])
    beside = [search_words(versions.contract_of(transaction.connection, head)) for head in lines]
    if highest is None or candidate.parts > (highest.major, highest.minor, highest.patch):
        values = {**summary, **merge_search_words(words, *beside)}
    elif beside:
        values = merge_search_words(*beside, words)
    else:
        return
    versions.update_contract(transaction, contract.id, values)


def _notify_parties(transaction: Transaction, judgement: Judgement, affected: list[_AffectedConsumer]) -> None:
    """Notify the owners, the affected consumers, and the owners of contracts in breach of a policy."""
    contract, verdict = judgement.candidate.contract, judgement.verdict
    parties = {owner.team for owner in contract.owners}
    details: dict[str, Any] = {"status": str(judgement.candidate.status), "required_version": verdict.required_version}
    kind, headline = "contract.registered", f"{contract.id} {contract.version} was registered"
    if judgement.before is not None:
        parties |= judgement.before.teams
        parties |= {consumer.impact.subscription.consumer for consumer in affected}
        parties |= {consumer.team for consumer in affected if consumer.team}
        derived = subscriptions.made_from(transaction.connection, judgement.before.line)
        affected_lines = [
            line for line, fields in derived if BreakingChanges(verdict).effect_on(fields)[0] is not Effect.SAFE
        ]
        parties |= {team for line in affected_lines for team in versions.owners_of(transaction.connection, line)}
        details["lines"] = [str(line) for line in affected_lines]
        details["changes"] = [change.message for change in verdict.judged][:50]
        details["consumers"] = {
            impact.subscription.consumer: {
                "effect": impact.effect.value,
                "changes": [change.message for change in impact.changes],
            }
            for impact in (consumer.impact for consumer in affected)
        }
        kind = "contract.changed"
        if verdict.opens_line:
            kind, headline = "line.opened", f"{contract.id} {contract.version} opens the line {contract.line}"
            details["migration"] = _plan(judgement)
    transaction.notify(kind, contract.id, headline, version=contract.version, details=details, parties=parties)
    for child in judgement.children:
        transaction.notify(
            "policy.breached",
            child.contract,
            f"{child.contract} {child.version} is weaker than {contract.id} {contract.version} asks",
            version=child.version,
            details={"violations": [str(violation) for violation in child.violations]},
            parties=child.teams,
        )


def _plan(judgement: Judgement) -> dict[str, str] | None:
    plan = judgement.candidate.contract.treaty.migration
    return {"guide": plan.guide, "window": plan.window, "owner": plan.owner} if plan else None


_REFUSED = "contract.refuse"
_MAX_ENTRIES_SEARCHED = 2_000
"""Entries to search for the same refusal, so that a client that retries does not fill the log."""

_MAX_KINDS = 20


def record_refusal(transaction: Transaction, actor: str, judgement: Judgement) -> None:
    """Record a refusal, unless the same document of the same actor was refused recently."""
    contract, report = judgement.candidate.contract, judgement.report
    subject, digest = f"{contract.id} {contract.version}", judgement.candidate.digest
    if _is_known(transaction, actor, subject, digest):
        return
    kinds = dict.fromkeys(issue.kind for issue in report.errors)
    transaction.record(
        actor,
        _REFUSED,
        subject,
        before=judgement.before.digest if judgement.before else None,
        after=digest,
        details={
            "mode": report.mode,
            "issues": list(kinds)[:_MAX_KINDS],
            "required_version": report.required_version,
            "hits": _count_affected(transaction, judgement),
        },
    )


def _is_known(transaction: Transaction, actor: str, subject: str, digest: str) -> bool:
    noted: set[tuple[str, str, str]] = transaction.once("refusals that were noted", set)
    if (actor, subject, digest) in noted:  # by another unit of this transaction, whose entries cannot be read yet
        return True
    noted.add((actor, subject, digest))
    since = transaction.newest - _MAX_ENTRIES_SEARCHED
    return audit_log.has_entry(transaction.connection, since, actor, _REFUSED, subject, digest)


def _count_affected(transaction: Transaction, judgement: Judgement) -> int:
    """Count the affected consumers."""
    if judgement.before is None:
        return 0
    readers = [
        subscriber.subscription
        for subscriber in subscriptions.subscribers(transaction.connection, judgement.before.line)
    ]
    return sum(impact.effect is not Effect.SAFE for impact in compute_impact(judgement.verdict, readers))


_LOG = logging.getLogger("treaty.registry")


def record_refusal_later(context: Context, judgement: Judgement) -> None:
    """Record a refusal in a transaction of its own; a failure only logs a warning."""
    actor = context.actor.name
    with suppress(Unavailable):  # the registry is closing
        context.submit(lambda transaction: record_refusal(transaction, actor, judgement)).add_done_callback(
            _log_failure
        )


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and done.exception() is not None:
        _LOG.warning("a refusal was not noted: %s", type(done.exception()).__name__)
