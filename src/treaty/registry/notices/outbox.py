"""The outbox in SQL: what waits, who has it in hand, what became of it; the connection is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Update, select, update

from treaty.registry.notices.channels import Channel
from treaty.registry.notices.messages import Notice
from treaty.registry.store.tables import channels, deliveries

_LONGEST_ERROR = 1000


class State(StrEnum):
    """Where a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class Key(NamedTuple):
    """Which delivery: a notice on a channel."""

    notice: int
    channel: int


@dataclass(frozen=True)
class Due:
    """A delivery in hand: nobody else sends it until the lease is over."""

    notice: Notice
    channel: Channel
    attempts: int
    leased_until: datetime


def waiting(notice: int, channel: int, contract: str, now: datetime) -> dict[str, Any]:
    """Return the row of a notice that waits for a channel, to be added with the change that it is about."""
    return {
        "notice": notice,
        "channel": channel,
        "contract": contract,
        "state": State.PENDING.value,
        "attempts": 0,
        "next_at": now,
        "leased_until": None,
        "error": None,
        "delivered_at": None,
    }


def delivered(connection: Connection, due: Due, now: datetime) -> None:
    """Record that the receiver took it."""
    # Whoever holds the lease by now: what was taken was taken.
    connection.execute(
        _this(due)
        .where(deliveries.c.state != State.DELIVERED.value)
        .values(
            state=State.DELIVERED.value,
            attempts=deliveries.c.attempts + 1,
            next_at=None,
            leased_until=None,
            error=None,
            delivered_at=now,
        )
    )


def failed(connection: Connection, due: Due, reason: str, next_at: datetime | None) -> None:
    """Record a failure; without a next time it is given up, and kept with its error until somebody retries it."""
    state = State.DEAD if next_at is None else State.PENDING
    connection.execute(
        _held(due).values(
            state=state.value,
            attempts=deliveries.c.attempts + 1,
            next_at=next_at,
            leased_until=None,
            error=reason[:_LONGEST_ERROR],
        )
    )


def release(connection: Connection, dues: Sequence[Due]) -> None:
    """Give back what was claimed and not tried."""
    for due in dues:
        connection.execute(_held(due).values(leased_until=None))


def retry(connection: Connection, now: datetime, channel: int | None = None, notice: int | None = None) -> int:
    """Put what was given up back into the outbox, all of it or that of a channel or notice; returns how many."""
    alive = select(channels.c.id).where(channels.c.removed_at.is_(None))
    again = update(deliveries).where(deliveries.c.state == State.DEAD.value, deliveries.c.channel.in_(alive))
    if channel is not None:
        again = again.where(deliveries.c.channel == channel)
    if notice is not None:
        again = again.where(deliveries.c.notice == notice)
    return connection.execute(again.values(state=State.PENDING.value, attempts=0, next_at=now)).rowcount


def abandon(connection: Connection, channel: int, reason: str) -> int:
    """Give up all that waits for a channel, as when it is removed; returns how many."""
    waiting = update(deliveries).where(deliveries.c.channel == channel, deliveries.c.state == State.PENDING.value)
    values = {"state": State.DEAD.value, "next_at": None, "leased_until": None, "error": reason[:_LONGEST_ERROR]}
    return connection.execute(waiting.values(values)).rowcount


def _this(due: Due) -> Update:
    return update(deliveries).where(deliveries.c.notice == due.notice.seq, deliveries.c.channel == due.channel.id)


def _held(due: Due) -> Update:
    """Reach the delivery only while the lease is ours: a late word must not undo what another did since."""
    return _this(due).where(deliveries.c.state == State.PENDING.value, deliveries.c.leased_until == due.leased_until)
