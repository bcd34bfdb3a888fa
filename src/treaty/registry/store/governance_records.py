"""Waivers and proposals in the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, select

from treaty.errors import NotFound
from treaty.governance.waivers import Waiver
from treaty.registry.access.permissions import Proposer
from treaty.registry.model import ProposalAnswer, WaiverAnswer
from treaty.registry.store.lifecycle_status import day_of
from treaty.registry.store.tables import proposals, waivers
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Sight, Visibility

_W, _P = waivers.c, proposals.c


class ProposalState(StrEnum):
    """Whether a proposal waits for a decision, and what was decided."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """A proposed version, with its document."""

    id: int
    contract: str
    version: str
    media: str
    document: bytes
    mode: str
    proposed_at: datetime
    proposed_by: str
    state: ProposalState = ProposalState.OPEN
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None
    proposer_identity: str | None = None

    @property
    def proposer(self) -> Proposer:
        """Who proposed it."""
        return Proposer(self.proposed_by, self.proposer_identity)

    @property
    def answer(self) -> ProposalAnswer:
        """The proposal without its document."""
        return ProposalAnswer(**{name: getattr(self, name) for name in ProposalAnswer.model_fields})


def waivers_in_force(connection: Connection, today: date) -> list[Waiver]:
    """Return the waivers that are in force today."""
    rows = connection.execute(select(waivers).where(_W.revoked_at.is_(None), _W.until >= today).order_by(_W.id))
    return [Waiver(row.rule, row.owner, row.reason, row.until, row.contract, row.path) for row in rows]


def list_waivers(connection: Connection, visibility: Visibility, after: int, limit: int) -> list[WaiverAnswer]:
    """Return waivers after an id, in the order they were granted."""
    query = select(waivers).where(_W.id > after, *visibility.conditions(_W.contract))
    rows = connection.execute(query.order_by(_W.id).limit(limit))
    return [WaiverAnswer(**row._mapping) for row in rows]


def find_waiver(connection: Connection, identity: int) -> WaiverAnswer:
    """Return a waiver, or raise NotFound."""
    row = connection.execute(select(waivers).where(_W.id == identity)).one_or_none()
    if row is None:
        raise NotFound(f"no waiver {identity}; see: treaty waiver list")
    waiver = WaiverAnswer(**row._mapping)
    return waiver.model_copy(update={"in_force": waiver.is_in_force(day_of(connection))})


def add_waiver(transaction: Transaction, waiver: WaiverAnswer) -> None:
    """Store a waiver."""
    transaction.insert(waivers, waiver.model_dump(exclude={"in_force"}))


def waivers_to_end(connection: Connection, today: date, limit: int) -> list[WaiverAnswer]:
    """Return waivers whose last day is over and whose owners were not notified yet."""
    query = select(waivers).where(_W.until < today, _W.revoked_at.is_(None), _W.ended_at.is_(None))
    return [WaiverAnswer(**row._mapping) for row in connection.execute(query.order_by(_W.id).limit(limit))]


def end_waiver(transaction: Transaction, identity: int) -> None:
    """Note that the owner of a waiver was notified of its end."""
    transaction.update(waivers, {"id": identity}, {"ended_at": transaction.now})


def revoke_waiver(transaction: Transaction, identity: int) -> None:
    """Mark a waiver as revoked."""
    transaction.update(waivers, {"id": identity}, {"revoked_at": transaction.now})


def find_proposal(connection: Connection, identity: int, sight: Sight = EVERYTHING_VISIBLE) -> ProposalRecord:
    """Return a proposal, or raise NotFound."""
    row = connection.execute(select(proposals).where(_P.id == identity)).one_or_none()
    if row is None or not sight.sees(row.contract):
        raise NotFound(f"no proposal {identity}; see: treaty proposal list")
    return _proposal(row)


def open_proposal_for(connection: Connection, contract: str, version: str) -> ProposalRecord | None:
    """Return the open proposal of a version, if there is one."""
    query = select(proposals).where(_P.state == ProposalState.OPEN, _P.contract == contract, _P.version == version)
    row = connection.execute(query.limit(1)).one_or_none()
    return None if row is None else _proposal(row)


def list_proposals(
    connection: Connection, visibility: Visibility, state: ProposalState | None, after: int, limit: int
) -> list[ProposalAnswer]:
    """Return proposals after an id, in the order they were made."""
    query = select(proposals).where(_P.id > after, *visibility.conditions(_P.contract))
    if state is not None:
        query = query.where(_P.state == state.value)
    return [_proposal(row).answer for row in connection.execute(query.order_by(_P.id).limit(limit))]


def add_proposal(transaction: Transaction, proposal: ProposalRecord) -> None:
    """Store a proposal."""
    values = {column.name: getattr(proposal, column.name) for column in proposals.columns}
    transaction.insert(proposals, {**values, "state": proposal.state.value})


def decide_proposal(
    transaction: Transaction, identity: int, state: ProposalState, actor: str, reason: str | None
) -> None:
    """Store the decision on a proposal."""
    values = {"state": state.value, "decided_at": transaction.now, "decided_by": actor, "reason": reason}
    transaction.update(proposals, {"id": identity}, values)


def _proposal(row: Row[Any]) -> ProposalRecord:
    values = dict(row._mapping)
    return ProposalRecord(**{**values, "document": bytes(row.document), "state": ProposalState(row.state)})
