"""Notices of a registration: to owners, affected consumers, and owners of contracts in breach of a policy."""

from __future__ import annotations

from typing import Any

from treaty.contracts.model import Contract
from treaty.governance.lifecycle import RELEASED, Status
from treaty.registry.documents import PreparedDocument
from treaty.registry.service.affected_consumers import Affected, AffectedConsumer
from treaty.registry.service.judgement import Judgement
from treaty.registry.service.lifecycle_notices import ending_of, notify_of_step
from treaty.registry.store import subscriptions, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import public_sight, sees_consumer


def notify_of_line_ending(transaction: Transaction, candidate: PreparedDocument, before: StoredVersion) -> None:
    """Notify the consumers of a line if a new version announces its end, changes that, or withdraws it."""
    contract = candidate.contract
    after = versions.get_version(transaction.connection, contract.id, contract.version)
    was, is_now = ending_of(before), ending_of(after)
    if after.status in RELEASED and was != is_now and (was.is_announced or is_now.is_announced):
        notify_of_step(transaction, [after], before.status, after.deprecation_reason or "")


def notify_of_registration(transaction: Transaction, judgement: Judgement, affected: Affected) -> None:
    """Notify the owners, the affected consumers, and the owners of contracts in breach of a policy."""
    contract, verdict = judgement.candidate.contract, judgement.verdict
    parties = {owner.team for owner in contract.owners}
    details: dict[str, Any] = {"status": str(judgement.candidate.status), "required_version": verdict.required_version}
    kind, headline = "contract.registered", f"{contract.id} {contract.version} was registered"
    if judgement.before is not None:
        parties |= judgement.before.teams
        consumers = [consumer for consumer in affected.consumers if consumer.is_affected]
        parties |= {party for consumer in consumers for party in consumer.parties}
        parties |= {team for line in affected.lines for team in versions.owners_of(transaction.connection, line)}
        sight = public_sight(transaction)
        details["lines"] = [str(line) for line in affected.lines if sight.sees(line.contract)]
        details["changes"] = [change.message for change in verdict.judged][:50]
        details["consumers"] = {
            consumer.name: _consumer_details(consumer) for consumer in consumers if sees_consumer(sight, consumer)
        }
        kind = "contract.changed"
        if verdict.opens_line:
            kind, headline = "line.opened", f"{contract.id} {contract.version} opens the line {contract.line}"
            details["migration"] = _plan(judgement)
    transaction.notify(kind, contract.id, headline, version=contract.version, details=details, parties=parties)
    if judgement.before is not None and judgement.before.teams != {owner.team for owner in contract.owners}:
        _notify_of_transfer(transaction, contract, judgement.before)
    for child in judgement.children if judgement.candidate.status is not Status.DRAFT else ():
        transaction.notify(
            "policy.breached",
            child.contract,
            f"{child.contract} {child.version} is weaker than {contract.id} {contract.version} asks",
            version=child.version,
            details={"violations": [str(violation) for violation in child.violations]},
            parties=child.teams,
        )


def _notify_of_transfer(transaction: Transaction, contract: Contract, before: StoredVersion) -> None:
    """Notify the consumers of every line, and the owners of before and after, that a contract has other owners."""
    parties = set(before.teams) | {owner.team for owner in contract.owners}
    for line in {version.line for version in versions.list_versions(transaction.connection, contract.id)}:
        for reader in subscriptions.subscribers(transaction.connection, line):
            parties |= {reader.subscription.consumer} | ({reader.team} if reader.team else set())
    teams = ", ".join(sorted(owner.team for owner in contract.owners)) or "no team"
    transaction.notify(
        "contract.transferred",
        contract.id,
        f"{contract.id} is now owned by {teams}; before, by {', '.join(sorted(before.teams)) or 'no team'}",
        version=contract.version,
        details={
            "owners": [{"team": owner.team, "contact": owner.contact} for owner in contract.owners],
            "before": sorted(before.teams),
        },
        parties=parties,
    )


def _consumer_details(consumer: AffectedConsumer) -> dict[str, Any]:
    details: dict[str, Any] = {
        "effect": consumer.impact.effect.value,
        "changes": [change.message for change in consumer.impact.changes],
    }
    return {**details, "path": list(consumer.path)} if consumer.via else details


def _plan(judgement: Judgement) -> dict[str, str] | None:
    plan = judgement.candidate.contract.treaty.migration
    return {"guide": plan.guide, "window": plan.window, "owner": plan.owner} if plan else None
