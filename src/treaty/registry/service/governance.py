"""Governance: policies, waivers, and breaking changes that wait for approval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from treaty.compatibility import KINDS, Mode
from treaty.consumers.usage_rules import USAGE_REFUSED
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import parse_line
from treaty.errors import Conflict, InvalidDocument, Refused
from treaty.governance.branch_findings import MODE_NONE_REFUSED
from treaty.governance.inheritance import Violation
from treaty.governance.lint import RULES
from treaty.governance.policy_rules import VIOLATED
from treaty.governance.waivers import parse_waiver
from treaty.registry.access.actors import CALENDAR, Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import GovernanceApi
from treaty.registry.documents import Document, PreparedDocument, prepare
from treaty.registry.model import (
    ChildAnswer,
    ContractAnswer,
    DetokenisationAnswer,
    KeyErasureAnswer,
    NamespaceAnswer,
    Page,
    PolicyCheckAnswer,
    ProposalAnswer,
    StepAnswer,
    ViolationAnswer,
    WaiverAnswer,
)
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.rules import RegistryRules
from treaty.registry.service import migration_status, namespaces, policies
from treaty.registry.service.context import Context
from treaty.registry.service.detokenisation import DetokenisationRequest, authorize_detokenisation
from treaty.registry.service.erasure import ErasedKey, record_key_erasure
from treaty.registry.service.proposals import parse_proposal_state
from treaty.registry.service.registration import register_approved
from treaty.registry.store import Connection, governance_records, migration_records, search, versions
from treaty.registry.store.governance_records import ProposalRecord, ProposalState
from treaty.registry.store.migration_records import MigrationState
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, visible_consumers


class Governance(GovernanceApi):
    """The governance of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def policies(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """List the policies: contracts whose terms bind the contracts below them."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection, visibility: search.policies(
                connection, visibility, self._context.now, str(start), limit + 1
            )
        )
        return page_of(rows, limit, lambda row: (row.id,))

    def check_policies(self, document: Document) -> PolicyCheckAnswer:
        """Return the terms that are weaker than the policies above, and the children a policy would put in breach."""
        candidate = self._context.prepared(document)
        return self._context.read(
            lambda connection, sight: _policy_check(
                connection, sight, self._context.rules, candidate, self._context.today
            ),
            Action.CHECK,
        )

    def namespaces(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[NamespaceAnswer]:
        """List the namespaces that belong to a team, by prefix."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(lambda connection, _: namespaces.page(connection, str(start), limit + 1))
        return page_of(rows, limit, lambda row: (row.prefix,))

    def assign_namespace(self, prefix: str, team: str) -> NamespaceAnswer:
        """Give a namespace to a team; the answer lists the contracts in it that belong to other teams."""
        return self._context.write(
            lambda transaction: namespaces.assign(transaction, self._context.actor, prefix, team)
        )

    def release_namespace(self, prefix: str) -> NamespaceAnswer:
        """Take a namespace from its team; any team may register contracts in it again."""
        return self._context.write(lambda transaction: namespaces.release(transaction, self._context.actor, prefix))

    def record_erasure(self, line: str, *, fields: Sequence[str], rows: int, tables: Sequence[str]) -> KeyErasureAnswer:
        """Record in the audit log that a key was erased from the tables of a pipeline; the key is not recorded."""
        context, erased = self._context, ErasedKey(parse_line(line), tuple(fields), rows, tuple(tables))
        return context.write(
            lambda transaction: record_key_erasure(transaction, context.actor, context.sight(transaction), erased)
        )

    def authorize_detokenisation(self, line: str, *, field: str, purpose: str, tokens: int) -> DetokenisationAnswer:
        """Allow some tokens of a field to be reversed for a purpose, by those who have the role that the policy names.

        The audit log records who asked, the field, the purpose and the number of tokens.
        """
        request = DetokenisationRequest(parse_line(line), parse_path(field), purpose, tokens)
        return self._context.write(lambda transaction: authorize_detokenisation(transaction, self._context, request))

    def waivers(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[WaiverAnswer]:
        """List waivers, in force or not."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        waivers = self._context.read(
            lambda connection, visibility: governance_records.list_waivers(
                connection, visibility, int(start), limit + 1
            )
        )
        page = page_of(waivers, limit, lambda waiver: (waiver.id,))
        today = self._context.today
        shown = [waiver.model_copy(update={"in_force": waiver.is_in_force(today)}) for waiver in page.items]
        return Page(items=shown, next=page.next)

    def waive(
        self, rule: str, *, owner: str, reason: str, until: date | str, contract: str = "*", path: str = "*"
    ) -> WaiverAnswer:
        """Waive a finding for a reason until an end date."""
        parameters = {
            "rule": rule,
            "owner": owner,
            "reason": reason,
            "until": str(until),
            "contract": contract,
            "path": path,
        }
        context = self._context
        return context.write(lambda transaction: waive(transaction, context.actor, context.rules, parameters))

    def revoke_waiver(self, identity: int) -> WaiverAnswer:
        """End a waiver before its end date."""
        return self._context.write(lambda transaction: revoke(transaction, self._context.actor, identity))

    def proposals(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[ProposalAnswer]:
        """List breaking changes that wait, or waited, for approval."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        wanted = parse_proposal_state(state)
        proposals = self._context.read(
            lambda connection, visibility: governance_records.list_proposals(
                connection, visibility, wanted, int(start), limit + 1
            )
        )
        return page_of(proposals, limit, lambda proposal: (proposal.id,))

    def approve(self, proposal: int, *, reason: str | None = None, override: bool = False) -> ProposalAnswer:
        """Register a proposed version; the proposer needs an override with a reason."""
        context = self._context
        return context.write(
            lambda transaction: approve(
                transaction, context.actor, context.sight(transaction), context.rules, proposal, reason, override
            )
        )

    def decline(self, proposal: int, *, reason: str | None = None) -> ProposalAnswer:
        """Decline a proposed version; the proposer withdraws it."""
        context = self._context
        return context.write(
            lambda transaction: decline(transaction, context.actor, context.sight(transaction), proposal, reason)
        )


def _policy_check(
    connection: Connection, sight: Sight, rules: RegistryRules, candidate: PreparedDocument, today: date
) -> PolicyCheckAnswer:
    contract = candidate.contract
    above = policies.policies_above(connection, sight, contract, rules.default_policies, today)
    held = policies.weakened_terms(connection, contract, above, today)
    return PolicyCheckAnswer(
        contract=contract.id,
        version=contract.version,
        policies=[f"{policy.id} {policy.version}" for policy in above],
        violations=[_violation(term.violation, term.waiver.owner if term.waiver else None) for term in held],
        children=[
            ChildAnswer(
                contract=child.contract,
                version=child.version,
                violations=[_violation(violation, None) for violation in child.violations],
            )
            for child in policies.children_in_breach(connection, sight, contract, rules.default_policies)
        ],
    )


def _violation(violation: Violation, waived_by: str | None) -> ViolationAnswer:
    return ViolationAnswer(
        policy=violation.policy,
        kind=violation.kind,
        path=violation.path,
        message=violation.message,
        severity=violation.severity.value,
        waived_by=waived_by,
    )


_WAIVABLE = frozenset(KINDS) | {"owner_missing", MODE_NONE_REFUSED, VIOLATED, USAGE_REFUSED}


def waive(transaction: Transaction, actor: Actor, rules: RegistryRules, request: Mapping[str, Any]) -> WaiverAnswer:
    """Grant a waiver with an owner, a reason and an end date, if the rules of the registry allow it."""
    waiver = parse_waiver(request, _WAIVABLE | frozenset(RULES))
    authorize(actor, Action.WAIVE, Resource("rule", waiver.rule))
    if rules.waivable_kinds is not None and waiver.rule in KINDS and not rules.may_waive(waiver.rule):
        allowed = ", ".join(sorted(rules.waivable_kinds)) or "none"
        raise Refused(f"{waiver.rule} may not be waived in this registry; waivable_kinds: {allowed}")
    if not waiver.is_in_force(transaction.now.date()):
        raise InvalidDocument(f"the waiver would have ended on {waiver.until}; choose a later day")
    details = {"owner": waiver.owner, "reason": waiver.reason, "until": str(waiver.until), "path": waiver.path}
    identity = transaction.record(
        actor.name, "waiver.grant", f"{waiver.rule} on {waiver.contract}", after=details, details=details
    )
    granted = WaiverAnswer(
        id=identity,
        rule=waiver.rule,
        contract=waiver.contract,
        path=waiver.path,
        owner=waiver.owner,
        reason=waiver.reason,
        until=waiver.until,
        granted_at=transaction.now,
        granted_by=actor.name,
    )
    governance_records.add_waiver(transaction, granted)
    return granted


def revoke(transaction: Transaction, actor: Actor, identity: int) -> WaiverAnswer:
    """End a waiver before its end date."""
    waiver = governance_records.find_waiver(transaction.connection, identity)
    authorize(actor, Action.WAIVE, Resource("rule", waiver.rule))
    if waiver.revoked_at is None:
        transaction.record(
            actor.name,
            "waiver.revoke",
            f"{waiver.rule} on {waiver.contract}",
            before={
                "owner": waiver.owner,
                "reason": waiver.reason,
                "until": str(waiver.until),
                "path": waiver.path,
            },
            details={"waiver": identity},
        )
        governance_records.revoke_waiver(transaction, identity)
        notify_of_end(transaction, waiver, f"was revoked by {actor.name}")
    return governance_records.find_waiver(transaction.connection, identity)


def end_waivers(transaction: Transaction, limit: int = 500) -> list[StepAnswer]:
    """Notify the owners of waivers whose last day is over, once for each waiver."""
    today = transaction.now.date()
    steps: list[StepAnswer] = []
    for waiver in governance_records.waivers_to_end(transaction.connection, today, limit):
        transaction.record(
            CALENDAR,
            "waiver.end",
            f"{waiver.rule} on {waiver.contract}",
            details={"waiver": waiver.id, "until": str(waiver.until), "owner": waiver.owner},
        )
        governance_records.end_waiver(transaction, waiver.id)
        notify_of_end(transaction, waiver, f"ended on {waiver.until}")
        steps.append(waiver_step(waiver))
    return steps


def waiver_step(waiver: WaiverAnswer) -> StepAnswer:
    """Return the end of a waiver as a step."""
    name = f"waiver {waiver.id}"
    reason = f"the waiver of {waiver.rule} by {waiver.owner} ended on {waiver.until}"
    return StepAnswer(contract=waiver.contract, version=name, before="in force", after="ended", reason=reason)


def notify_of_end(transaction: Transaction, waiver: WaiverAnswer, how: str) -> None:
    """Notify the owner of a waiver, and the owners of its contract, that it has ended."""
    highest = versions.highest(transaction.connection, waiver.contract)
    transaction.notify(
        "waiver.ended",
        waiver.contract,
        f"The waiver of {waiver.rule} on {waiver.contract} {how}; the finding counts again",
        details={"waiver": waiver.id, "path": waiver.path, "reason": waiver.reason, "until": str(waiver.until)},
        parties={waiver.owner} | (set(highest.teams) if highest else set()),
    )


def approve(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    identity: int,
    reason: str | None,
    override: bool,
) -> ProposalAnswer:
    """Register a proposed version; the proposer needs an override with a reason, which is recorded."""
    row = _open(transaction, sight, identity)
    _check(transaction, actor, row, reason, Action.OVERRIDE if override else Action.APPROVE)
    silent = _silent(transaction, rules, identity)
    if silent and not override:
        raise Refused(
            f"{row.contract} {row.version} waits for acknowledgement by {', '.join(visible_consumers(silent, sight))}: "
            "treaty migrate acknowledge; a steward may override it with a reason"
        )
    transaction.record(
        actor.name,
        "proposal.override" if override else "proposal.approve",
        f"{row.contract} {row.version}",
        before={"state": row.state},
        after={"state": "approved", "reason": reason},
        details={
            "proposal": identity,
            "reason": reason,
            "proposed_by": row.proposed_by,
            "unacknowledged": [status.consumer for status in silent],
        },
    )
    register_approved(
        transaction,
        row.proposed_by,
        rules,
        prepare(row.document, row.media, rules.limits),
        Mode(row.mode),
    )
    governance_records.decide_proposal(transaction, identity, ProposalState.APPROVED, actor.name, reason)
    return governance_records.find_proposal(transaction.connection, identity).answer


def decline(transaction: Transaction, actor: Actor, sight: Sight, identity: int, reason: str | None) -> ProposalAnswer:
    """Decline a proposed version; the proposer may withdraw it."""
    row = _open(transaction, sight, identity)
    own = row.proposer.is_same_as(actor)
    _check(transaction, actor, row, reason, Action.REGISTER if own else Action.APPROVE)
    transaction.record(
        actor.name,
        "proposal.decline",
        f"{row.contract} {row.version}",
        before={"state": row.state},
        after={"state": "declined", "reason": reason},
        details={"proposal": identity, "reason": reason, "proposed_by": row.proposed_by, "withdrawn": own},
    )
    governance_records.decide_proposal(transaction, identity, ProposalState.DECLINED, actor.name, reason)
    waiting = migration_records.proposed_as(transaction.connection, identity)
    if waiting is not None:
        migration_records.change(
            transaction, waiting.id, state=MigrationState.WITHDRAWN.value, closed_at=transaction.now
        )
    return governance_records.find_proposal(transaction.connection, identity).answer


def _silent(transaction: Transaction, rules: RegistryRules, identity: int) -> list[migration_status.ConsumerStatus]:
    """Return the critical consumers that have not acknowledged a proposal."""
    waiting = migration_records.proposed_as(transaction.connection, identity)
    if waiting is None:
        return []
    statuses = migration_status.consumer_statuses(transaction.connection, rules, waiting, transaction.now.date())
    return migration_status.missing_acknowledgements(rules, statuses)


def _open(transaction: Transaction, sight: Sight, identity: int) -> ProposalRecord:
    row = governance_records.find_proposal(transaction.connection, identity, sight)
    if row.state != ProposalState.OPEN:
        raise Conflict(f"proposal {identity} was {row.state} by {row.decided_by}")
    return row


def _check(transaction: Transaction, actor: Actor, row: ProposalRecord, reason: str | None, action: Action) -> None:
    owned = versions.highest(transaction.connection, row.contract)
    teams = owned.teams if owned else frozenset()
    authorize(actor, action, Resource("proposal", f"{row.contract} {row.version}", teams, row.proposer), reason)
