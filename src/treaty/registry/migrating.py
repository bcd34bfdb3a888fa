"""Consumers on their way to the next line: they acknowledge, they move, or they are waived."""

from __future__ import annotations

from datetime import date
from typing import Any

from treaty.compatibility import Mode
from treaty.compatibility.migration.proof import contract_digest
from treaty.consumers.subscriptions import Subscription, parse_fields
from treaty.errors import Conflict, InvalidDocument, NotFound, Refused
from treaty.registry import boards, proposing, subscribing
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action, Resource, authorize
from treaty.registry.answers import BoardAnswer
from treaty.registry.boards import Standing
from treaty.registry.ground_rules import Approval, GroundRules
from treaty.registry.preparing import prepare
from treaty.registry.registering import register_approved
from treaty.registry.store import kept, moving
from treaty.registry.store.moving import ConsumerState, KeptMigration, MigrationState
from treaty.registry.store.transaction import Transaction
from treaty.registry.ways import followed


def acknowledge(
    transaction: Transaction, actor: Actor, rules: GroundRules, identity: int, consumer: str, note: str | None
) -> BoardAnswer:
    """Note that a consumer knows of the change; the last word that was waited for lets the version in."""
    one, standing = _found(transaction, rules, identity, consumer)
    authorize(actor, Action.SUBSCRIBE, _resource(standing))
    if standing.state in (ConsumerState.WAITING, ConsumerState.WAIVED):
        _put(transaction, actor, one, standing, ConsumerState.ACKNOWLEDGED, reason=note)
    return _settled(transaction, actor, rules, one)


def waive(
    transaction: Transaction, actor: Actor, rules: GroundRules, identity: int, consumer: str, reason: str, until: date
) -> BoardAnswer:
    """Go on without a consumer, for a reason, until a day."""
    one, standing = _found(transaction, rules, identity, consumer)
    authorize(actor, Action.WAIVE, Resource("migration", str(one.line)))
    if not reason.strip():
        raise InvalidDocument("a waiver needs a reason, which the audit keeps; give one")
    if until < transaction.now.date():
        raise InvalidDocument(f"the waiver would have ended on {until}; choose a day to come")
    _refuse_if_moved(standing)
    _put(transaction, actor, one, standing, ConsumerState.WAIVED, reason=reason, until=until)
    return _settled(transaction, actor, rules, one)


def move(
    transaction: Transaction, actor: Actor, rules: GroundRules, identity: int, consumer: str, fields: list[str] | None
) -> BoardAnswer:
    """Let a consumer read the new line instead of the old one; its fields follow the way over unless it names them."""
    one, standing = _found(transaction, rules, identity, consumer)
    authorize(actor, Action.SUBSCRIBE, _resource(standing))
    if one.state is not MigrationState.OPEN:
        raise Conflict(f"{one.to_line} is not registered yet; {consumer} can move once it is")
    if standing.subscribed is None:
        return boards.board_answer(transaction.connection, rules, one, transaction.now.date())
    old = standing.subscribed.subscription
    read = (
        parse_fields(fields)
        if fields is not None
        else followed(boards.contracts_of(transaction.connection, rules, one), rules, old.fields)
    )
    new = Subscription(consumer, one.to_line, old.consumer_class, read, old.purpose, old.latency, old.contact)
    subscribing.subscribe(transaction, actor, new, standing.subscribed.team)
    subscribing.unsubscribe(transaction, actor, consumer, one.line)
    _put(transaction, actor, one, standing, ConsumerState.MOVED)
    return boards.board_answer(transaction.connection, rules, one, transaction.now.date())


def record_proof(
    transaction: Transaction, actor: Actor, rules: GroundRules, identity: int, proof: dict[str, Any]
) -> BoardAnswer:
    """Keep a proof with the migration it is about, in place of an earlier one."""
    one = moving.find(transaction.connection, identity)
    teams = kept.owners_of(transaction.connection, one.line)
    authorize(actor, Action.REGISTER, Resource("contract", one.contract, teams))
    for side, contract in zip(
        ("before", "after"), boards.contracts_of(transaction.connection, rules, one), strict=True
    ):
        said = proof.get(side)
        if not isinstance(said, dict) or said.get("digest") != contract_digest(contract):
            raise Refused(
                f"the proof is not about {contract.id} {contract.version} as it stands here; "
                "prove the versions of this registry: treaty migrate prove "
                f"{one.contract}@{one.version} {one.contract}@{one.to_version}"
            )
    if not isinstance(proof.get("holds"), bool) or not isinstance(proof.get("shims"), list):
        raise InvalidDocument("this is no proof; hand in what treaty migrate prove --format json prints")
    holds = proof["holds"]
    transaction.record(
        actor.name,
        "migration.prove",
        f"{one.line} -> {one.to_line}",
        before=one.proof,
        after=proof,
        details={"migration": identity, "holds": holds, "shims": proof.get("shims_digest")},
    )
    moving.change(transaction, identity, proof=proof)
    found = moving.find(transaction.connection, identity)
    return boards.board_answer(transaction.connection, rules, found, transaction.now.date())


def _found(
    transaction: Transaction, rules: GroundRules, identity: int, consumer: str
) -> tuple[KeptMigration, Standing]:
    one = moving.find(transaction.connection, identity)
    if not one.is_live:
        raise Conflict(f"migration {identity} is {one.state}; nothing is left to say to it")
    found = boards.standings(transaction.connection, rules, one, transaction.now.date())
    standing = next((it for it in found if it.consumer == consumer), None)
    if standing is None:
        known = ", ".join(it.consumer for it in found) or "nobody"
        raise NotFound(f"{consumer!r} has no part in migration {identity}; those who have: {known}")
    return one, standing


def _refuse_if_moved(standing: Standing) -> None:
    if standing.state is ConsumerState.MOVED:
        raise Conflict(f"{standing.consumer} has moved already")


def _resource(standing: Standing) -> Resource:
    return Resource("subscription", standing.consumer, frozenset({standing.team or standing.consumer}))


def _put(
    transaction: Transaction,
    actor: Actor,
    one: KeptMigration,
    standing: Standing,
    state: ConsumerState,
    reason: str | None = None,
    until: date | None = None,
) -> None:
    said = standing.kept
    transaction.record(
        actor.name,
        f"migration.{state}",
        f"{standing.consumer}: {one.line} -> {one.to_line}",
        before={"state": standing.state, "reason": said.reason, "until": said.until} if said else None,
        after={"state": state, "reason": reason, "until": until},
        details={"migration": one.id, "reason": reason, "until": str(until) if until else None},
    )
    values = {
        "state": state.value,
        "effect": standing.effect.value,
        "consumer_class": standing.consumer_class.value,
        "team": standing.team,
        "reason": reason,
        "until": until,
        "changed_at": transaction.now,
        "changed_by": actor.name,
    }
    moving.put_consumer(transaction, one.id, standing.consumer, values)
    owners = kept.owners_of(transaction.connection, one.line) | ({one.owner} if one.owner else set())
    if state is ConsumerState.WAIVED:
        owners |= {standing.consumer} | ({standing.team} if standing.team else set())
    transaction.notify(
        f"migration.{state}",
        one.contract,
        f"{standing.consumer} is {state}: {one.line} -> {one.to_line}",
        version=one.to_version,
        details={"migration": one.id, "consumer": standing.consumer, "reason": reason},
        parties=owners,
    )


def _settled(transaction: Transaction, actor: Actor, rules: GroundRules, one: KeptMigration) -> BoardAnswer:
    """Register a version that waited for nothing but the word that was given now."""
    today = transaction.now.date()
    connection = transaction.connection
    open_still = one.state is MigrationState.PROPOSED and one.proposal is not None
    if open_still and rules.approval is Approval.OFF:
        left = boards.missing(rules, boards.standings(connection, rules, one, today))
        if not left and one.proposal is not None:
            _let_in(transaction, actor, rules, one, one.proposal)
    found = moving.find(transaction.connection, one.id)
    return boards.board_answer(transaction.connection, rules, found, today)


def _let_in(transaction: Transaction, actor: Actor, rules: GroundRules, one: KeptMigration, proposal: int) -> None:
    row = proposing.find(transaction.connection, proposal)
    try:
        register_approved(
            transaction, row.proposed_by, rules, prepare(bytes(row.document), row.media, rules.limits), Mode(row.mode)
        )
    except (Refused, Conflict, InvalidDocument) as error:
        # the word that was given stays given; the owners learn that the version needs another look
        transaction.notify(
            "migration.stuck",
            one.contract,
            f"{one.contract} {one.to_version} has every word it waited for, and cannot be registered",
            version=one.to_version,
            details={"migration": one.id, "proposal": proposal, "reason": str(error)},
            parties=kept.owners_of(transaction.connection, one.line),
        )
        return
    proposing.decide(transaction, proposal, "approved", actor, "every consumer it waited for has acknowledged it")
