"""Waivers as they are kept: each says who set which finding aside, until when."""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, select

from treaty.errors import NotFound
from treaty.governance.waivers import Waiver
from treaty.registry.store.tables import waivers

_W = waivers.c


def in_force(connection: Connection, today: date) -> list[Waiver]:
    """Return the waivers that hold today."""
    rows = connection.execute(select(waivers).where(_W.revoked_at.is_(None), _W.until >= today).order_by(_W.id))
    return [Waiver(row.rule, row.owner, row.reason, row.until, row.contract, row.path) for row in rows]


def page(connection: Connection, after: int, limit: int) -> list[Row[Any]]:
    """Return some waivers, in the order they were granted."""
    return list(connection.execute(select(waivers).where(_W.id > after).order_by(_W.id).limit(limit)))


def find(connection: Connection, identity: int) -> Row[Any]:
    """Return one waiver, or say that there is none."""
    row = connection.execute(select(waivers).where(_W.id == identity)).one_or_none()
    if row is None:
        raise NotFound(f"no waiver {identity}; see: treaty waivers")
    return row
