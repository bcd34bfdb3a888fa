"""Register a version: judge it, store it, and write the audit entry and the notices."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import date
from typing import Any, TypeAlias

from treaty.compatibility import Mode
from treaty.compatibility.kinds.meaning import EDITORIAL
from treaty.contracts.blocks import EDGE
from treaty.contracts.lookalikes import skeleton
from treaty.contracts.model import Contract
from treaty.errors import Conflict, NotAllowed
from treaty.governance.lifecycle import Status, Timetable, day_of
from treaty.governance.policy_chain import is_policy
from treaty.observability.dataset_names import dataset_names
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.documents import (
    Document,
    PreparedDocument,
    merge_search_words,
    readers_of,
    search_words,
    summary_of,
)
from treaty.registry.model import Registration
from treaty.registry.rules import RegistryRules
from treaty.registry.service import line_lineage
from treaty.registry.service.affected_consumers import Affected, find_affected
from treaty.registry.service.context import Context
from treaty.registry.service.document_steps import is_step, step_by_document
from treaty.registry.service.judgement import Judgement, judge, registered_report
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.migration_start import begin, propose, readers, waits
from treaty.registry.service.namespaces import check_namespace, check_new_id
from treaty.registry.service.proposals import open_proposal
from treaty.registry.service.refusals import InadmissibleVersion, record_refusal_later
from treaty.registry.service.registration_notices import notify_of_line_ending, notify_of_registration
from treaty.registry.store import datasets, lineage, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Sight, visible_consumers

UseCase: TypeAlias = Callable[[Transaction, Actor, Sight, RegistryRules, PreparedDocument, Mode], Registration]
"""A way to register a version."""


class VersionTaken(Conflict):
    """The version is registered already, with the same document or another one."""

    def __init__(self, version: StoredVersion) -> None:
        super().__init__(
            f"version {version.version!r} of {version.contract!r} is already registered; history does not change"
        )
        self.version = version


def submit(context: Context, use_case: UseCase, document: Document, compatibility: str | None) -> Future[Registration]:
    """Queue a version for registration; a refusal is recorded in the audit log and raised by the future."""
    candidate, mode = context.prepared(document), context.mode(compatibility)
    _ = candidate.words, candidate.digest  # computed here, before the database is locked

    def run(transaction: Transaction) -> Registration:
        context.check_in_force(transaction)
        try:
            return use_case(transaction, context.actor, context.sight(transaction), context.rules, candidate, mode)
        except InadmissibleVersion as refusal:
            record_refusal_later(context, refusal.judgement)
            raise

    return context.submit(run)


def register_again(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, candidate: PreparedDocument, mode: Mode
) -> Registration:
    """Register a version; the same document again gives the answer of the first time, and changes nothing.

    The current version with another status or deprecation is a step of its life cycle.
    """
    try:
        return register(transaction, actor, sight, rules, candidate, mode)
    except VersionTaken as taken:
        if taken.version.digest != candidate.digest:
            if is_step(transaction.connection, taken.version, candidate):
                return step_by_document(transaction, actor, sight, rules, taken.version, candidate)
            raise
        return Registration(
            status="registered",
            dataset_id=taken.version.contract,
            version=taken.version.version,
            compatibility=registered_report(transaction.connection, rules, taken.version),
            unchanged=True,
        )


def register(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, candidate: PreparedDocument, mode: Mode
) -> Registration:
    """Register an admissible version; a breaking one may be proposed first."""
    if not sight.sees(candidate.contract.id):
        raise NotAllowed(f"the id {candidate.contract.id!r} is not available; choose another id")
    judgement = _judge_or_refuse(transaction, sight, rules, candidate, mode, actor)
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
            waits_for=visible_consumers(waiting.consumers, sight),
            unconfirmed=visible_consumers(waiting.unconfirmed, sight),
        )
    store_version(transaction, actor.name, rules, judgement)
    return Registration(
        status="registered",
        dataset_id=contract.id,
        version=contract.version,
        compatibility=judgement.report,
        unconfirmed=visible_consumers(waiting.unconfirmed, sight),
    )


def register_approved(
    transaction: Transaction, proposer: str, rules: RegistryRules, candidate: PreparedDocument, mode: Mode
) -> None:
    """Register an approved version; it is judged again, because the history may have changed."""
    store_version(
        transaction, proposer, rules, _judge_or_refuse(transaction, EVERYTHING_VISIBLE, rules, candidate, mode, None)
    )


def check_may_register(actor: Actor, rules: RegistryRules, judgement: Judgement, requested: Mode) -> None:
    """Check the permission to register: of the current owners, or of the named owners of a new contract.

    Giving a contract to other teams, changing who may read it, or asking for less than the registry's mode, is for
    its owners; what concerns policies (being one, ceasing to be one, leaving one) for those who govern.
    """
    contract, before, predecessor = judgement.candidate.contract, judgement.before, judgement.verdict.before
    named = frozenset(owner.team for owner in contract.owners)
    resource = Resource("contract", contract.id, before.teams if before else named)
    actions = [Action.GOVERN if is_policy(contract) else Action.REGISTER]
    shown = predecessor is not None and predecessor.treaty.visibility != contract.treaty.visibility
    if before is not None and (before.teams != named or shown or not requested.covers(rules.mode)):
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
    affected = find_affected(transaction.connection, judgement)
    line_before = _line_before(transaction, judgement)
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
    declared = line_lineage.declared_upstreams(transaction.connection, contract, candidate.line)
    if declared or judgement.before is not None:
        lineage.replace_upstreams(transaction, candidate.line, declared, seq)
    predecessor = judgement.verdict.before
    if contract.servers or (predecessor is not None and predecessor.servers):
        datasets.replace_declared(transaction, candidate.line, dataset_names(contract))
    if judgement.before is None:
        lineage.find_upstreams_of_newcomer(transaction, candidate.line, seq)
    begin(transaction, actor, rules, judgement)
    notify_of_registration(transaction, judgement, affected)
    if line_before is not None:
        notify_of_line_ending(transaction, candidate, line_before)
    if rules.on_registered is not None:
        rules.on_registered(transaction, actor, candidate)


def _line_before(transaction: Transaction, judgement: Judgement) -> StoredVersion | None:
    """Return the version that speaks for the line of a candidate, if the line exists."""
    before = judgement.before
    if before is None or before.line != judgement.candidate.line:
        return None
    return head_of(versions.versions_in_line(transaction.connection, before.line))


def _registration_details(judgement: Judgement, affected: Affected) -> dict[str, Any]:
    """Return the details of a registration for the audit log."""
    noted: dict[str, Any] = {"mode": str(judgement.verdict.mode), "compatible": judgement.verdict.compatible}
    if judgement.before is not None:
        opens = judgement.verdict.opens_line
        noted |= {"before": judgement.before.version, "opens_line": opens, "hits": affected.count}
    if editorial := [judged.change for judged in judgement.verdict.judged if judged.change.kind in EDITORIAL]:
        noted["editorial"] = [{"change": change.kind, "owner": change.declared_by} for change in editorial]
    if (onboarding := judgement.onboarding) is not None and onboarding.waiver is not None:
        waiver = onboarding.waiver
        noted["override"] = {"rule": waiver.rule, "owner": waiver.owner, "reason": waiver.reason}
    return noted


def _judge_or_refuse(
    transaction: Transaction,
    sight: Sight,
    rules: RegistryRules,
    candidate: PreparedDocument,
    mode: Mode,
    actor: Actor | None,
) -> Judgement:
    """Judge a candidate; refuse it without permission, or if it exists or is not admissible."""
    judgement = judge(transaction.connection, sight, rules, candidate, mode, transaction.now.date())
    if actor is not None:
        check_may_register(actor, rules, judgement, mode)
        check_namespace(transaction, actor, candidate.contract, judgement.before)
    if judgement.before is None:
        check_new_id(transaction.connection, candidate.contract)
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
    registered = versions.find_version(transaction.connection, contract.id, contract.version)
    if registered is not None:
        raise VersionTaken(registered)


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
        "issues": [issue.model_dump() for issue in judgement.report.issues],
        "status": str(_recorded_status(candidate, days, transaction.now.date())),
        "deprecation_uri": notice.migration_guide if notice else None,
        "replacement": notice.replacement if notice else None,
        "deprecation_reason": notice.reason if notice else None,
        "announced_on": days.announced if days else None,
        "sunset_on": days.sunset if days else None,
        "retire_on": days.retirement if days else None,
        "expires_on": day_of(contract.treaty.expires, "expires") if contract.treaty.expires else None,
    }


def _recorded_status(candidate: PreparedDocument, days: Timetable | None, today: date) -> Status:
    """Return the status to store; a deprecation that is announced for a later day has not begun."""
    if candidate.status is Status.DEPRECATED and days is not None and days.announced > today:
        return Status.ACTIVE
    return candidate.status


def _update_search_row(transaction: Transaction, candidate: PreparedDocument, before: StoredVersion | None) -> None:
    """Update the search row of a contract: the highest version describes it, every line in use adds its words."""
    contract = candidate.contract
    words = candidate.words
    summary: dict[str, Any] = {
        "updated_at": transaction.now,
        "version": contract.version,
        "name": contract.name,
        "domain": contract.domain,
        "tier": EDGE if contract.treaty.sharing == EDGE else contract.treaty.tier,  # searches find edge contracts by it
        "parent": contract.treaty.parent,
        "summary": summary_of(contract),
        "readers": readers_of(contract),
        **words,
    }
    if before is None:
        versions.add_contract(
            transaction,
            {"id": contract.id, "skeleton": skeleton(contract.id), "created_at": transaction.now, **summary},
        )
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
