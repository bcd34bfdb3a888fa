"""Waivers and proposals in the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, select

from treaty.errors import NotFound
from treaty.governance.waivers import Waiver
from treaty.registry.model import ProposalAnswer, WaiverAnswer
from treaty.registry.store.tables import proposals, waivers
from treaty.registry.store.transaction import Transaction

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

    @property
    def answer(self) -> ProposalAnswer:
        """The proposal without its document."""
        return ProposalAnswer(**{name: getattr(self, name) for name in ProposalAnswer.model_fields})


def waivers_in_force(connection: Connection, today: date) -> list[Waiver]:
    """Return the waivers that hold today."""
    rows = connection.execute(select(waivers).where(_W.revoked_at.is_(None), _W.until >= today).order_by(_W.id))
    return [Waiver(row.rule, row.owner, row.reason, row.until, row.contract, row.path) for row in rows]


def list_waivers(connection: Connection, after: int, limit: int) -> list[WaiverAnswer]:
    """Return waivers after an id, in the order they were granted."""
    rows = connection.execute(select(waivers).where(_W.id > after).order_by(_W.id).limit(limit))
    return [WaiverAnswer(**row._mapping) for row in rows]


def find_waiver(connection: Connection, identity: int) -> WaiverAnswer:
    """Return a waiver, or raise NotFound."""
    row = connection.execute(select(waivers).where(_W.id == identity)).one_or_none()
    if row is None:
        raise NotFound(f"no waiver {identity}; see: treaty waiver list")
    return WaiverAnswer(**row._mapping)


def add_waiver(transaction: Transaction, waiver: WaiverAnswer) -> None:
    """Store a waiver."""
    transaction.insert(waivers, waiver.model_dump())


def revoke_waiver(transaction: Transaction, identity: int) -> None:
    """Mark a waiver as revoked."""
    transaction.update(waivers, {"id": identity}, {"revoked_at": transaction.now})


def find_proposal(connection: Connection, identity: int) -> ProposalRecord:
    """Return a proposal, or raise NotFound."""
    row = connection.execute(select(proposals).where(_P.id == identity)).one_or_none()
    if row is None:
        raise NotFound(f"no proposal {identity}; see: treaty proposal list")
    return _proposal(row)


def open_proposal_for(connection: Connection, contract: str, version: str) -> ProposalRecord | None:
    """Return the open proposal of a version, if there is one."""
    query = select(proposals).where(_P.state == ProposalState.OPEN, _P.contract == contract, _P.version == version)
    row = connection.execute(query.limit(1)).one_or_none()
    return None if row is None else _proposal(row)


def list_proposals(connection: Connection, state: ProposalState | None, after: int, limit: int) -> list[ProposalAnswer]:
    """Return proposals after an id, in the order they were made."""
    query = select(proposals).where(_P.id > after)
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
