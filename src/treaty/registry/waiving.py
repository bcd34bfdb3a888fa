"""Waivers: somebody sets a finding aside, for a reason, until a date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, insert, update

from treaty.compatibility import KINDS
from treaty.errors import InvalidDocument
from treaty.governance.lint import RULES
from treaty.governance.waivers import parse_waiver
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action, Resource, authorize
from treaty.registry.answers import WaiverAnswer
from treaty.registry.store import waivers
from treaty.registry.store.tables import waivers as table
from treaty.registry.store.transaction import Transaction

_KNOWN = frozenset(KINDS) | {"owner_missing"}


def waive(transaction: Transaction, actor: Actor, asked: Mapping[str, Any]) -> WaiverAnswer:
    """Grant a waiver; it must end, and its owner and reason are kept."""
    waiver = parse_waiver(asked, _KNOWN | frozenset(RULES))
    authorize(actor, Action.WAIVE, Resource("rule", waiver.rule))
    if not waiver.holds(transaction.now.date()):
        raise InvalidDocument(f"the waiver would have ended on {waiver.until}; choose a day to come")
    said = {"owner": waiver.owner, "reason": waiver.reason, "until": str(waiver.until), "path": waiver.path}
    identity = transaction.record(
        actor.name, "waiver.grant", f"{waiver.rule} on {waiver.contract}", after=said, details=said
    )
    values: dict[str, Any] = {
        "id": identity,
        "rule": waiver.rule,
        "contract": waiver.contract,
        "path": waiver.path,
        "owner": waiver.owner,
        "reason": waiver.reason,
        "until": waiver.until,
        "granted_at": transaction.now,
        "granted_by": actor.name,
    }
    transaction.write(insert(table).values(values))
    return WaiverAnswer(**values)


def revoke(transaction: Transaction, actor: Actor, identity: int) -> WaiverAnswer:
    """End a waiver before its day."""
    row = waivers.find(transaction.connection, identity)
    authorize(actor, Action.WAIVE, Resource("rule", row.rule))
    if row.revoked_at is None:
        transaction.record(
            actor.name,
            "waiver.revoke",
            f"{row.rule} on {row.contract}",
            before={"owner": row.owner, "reason": row.reason, "until": str(row.until), "path": row.path},
            details={"waiver": identity},
        )
        transaction.write(update(table).where(table.c.id == identity).values(revoked_at=transaction.now))
    return answer(waivers.find(transaction.connection, identity))


def answer(row: Row[Any]) -> WaiverAnswer:
    """Return a waiver in the words of the API."""
    return WaiverAnswer(**row._mapping)
