"""Breaking changes that wait: who proposes one does not approve it."""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, insert, select, update

from treaty.errors import Conflict, InvalidDocument, NotFound
from treaty.registry.access.actors import Actor
from treaty.registry.model import ProposalAnswer
from treaty.registry.service.judgement import Judgement
from treaty.registry.store.tables import proposals
from treaty.registry.store.transaction import Transaction

_P = proposals.c
ProposalRow: TypeAlias = Row[Any]
OPEN = "open"
STATES = (OPEN, "approved", "declined")


def open_proposal(transaction: Transaction, actor: Actor, judgement: Judgement) -> int:
    """Keep a breaking change until somebody else approves it; the same document is proposed once."""
    candidate, contract = judgement.candidate, judgement.candidate.contract
    waiting = select(proposals).where(_P.state == OPEN, _P.contract == contract.id, _P.version == contract.version)
    for row in transaction.read(waiting):
        if bytes(row.document) == candidate.content and row.proposed_by == actor.name:
            return int(row.id)
        raise Conflict(f"{contract.id} {contract.version} is proposed already (proposal {row.id}); decide that first")
    identity = transaction.record(
        actor.name, "contract.propose", f"{contract.id} {contract.version}", after=candidate.digest
    )
    transaction.write(
        insert(proposals).values(
            id=identity,
            contract=contract.id,
            version=contract.version,
            media=candidate.media,
            document=candidate.content,
            mode=judgement.verdict.mode.value,
            proposed_at=transaction.now,
            proposed_by=actor.name,
            state=OPEN,
        )
    )
    owners = {owner.team for owner in contract.owners} | (judgement.before.teams if judgement.before else set())
    transaction.notify(
        "contract.proposed",
        contract.id,
        f"{contract.id} {contract.version} breaks consumers and waits for approval",
        version=contract.version,
        details={"proposal": identity, "issues": [issue.message for issue in judgement.report.errors]},
        parties=owners,
    )
    return identity


def find(connection: Connection, identity: int) -> ProposalRow:
    """Return a proposal, or say that there is none."""
    row = connection.execute(select(proposals).where(_P.id == identity)).one_or_none()
    if row is None:
        raise NotFound(f"no proposal {identity}; see: treaty proposals")
    return row


def decide(transaction: Transaction, identity: int, state: str, actor: Actor, reason: str | None) -> None:
    """Note what became of a proposal."""
    transaction.write(
        update(proposals)
        .where(_P.id == identity)
        .values(state=state, decided_at=transaction.now, decided_by=actor.name, reason=reason)
    )


def page(connection: Connection, state: str | None, after: int, limit: int) -> list[ProposalAnswer]:
    """Return some proposals, in the order they were made."""
    asked = select(proposals).where(_P.id > after)
    if state is not None:
        if state not in STATES:
            raise InvalidDocument(f"unknown state {state[:40]!r} of proposals; use one of: {', '.join(STATES)}")
        asked = asked.where(_P.state == state)
    return [answer(row) for row in connection.execute(asked.order_by(_P.id).limit(limit))]


def answer(row: ProposalRow) -> ProposalAnswer:
    """Return a proposal without its document."""
    kept = row._mapping
    return ProposalAnswer(**{name: kept[name] for name in ProposalAnswer.model_fields})
