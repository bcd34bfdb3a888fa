"""The outbox: deliveries that wait, are leased to a worker, delivered or given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Label, Row, Select, Update, and_, func, or_, select, tuple_, update

from treaty.registry.notices.channels import Channel, ChannelKind
from treaty.registry.notices.messages import Notice
from treaty.registry.store.tables import channels, deliveries, notices

_MAX_ERROR_LENGTH = 1000


class State(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class Key(NamedTuple):
    """The key of a delivery: a notice on a channel."""

    notice: int
    channel: int


@dataclass(frozen=True)
class Due:
    """A delivery that is leased to this worker."""

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
    """Record a successful delivery."""
    # Whatever the lease: the receiver has it.
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
    """Record a failure; without a next attempt the delivery is given up until it is retried by request."""
    state = State.DEAD if next_at is None else State.PENDING
    connection.execute(
        _update_leased(due).values(
            state=state.value,
            attempts=deliveries.c.attempts + 1,
            next_at=next_at,
            leased_until=None,
            error=reason[:_MAX_ERROR_LENGTH],
        )
    )


def release(connection: Connection, dues: Sequence[Due]) -> None:
    """Release claimed deliveries that were not tried."""
    for due in dues:
        connection.execute(_update_leased(due).values(leased_until=None))


def retry(connection: Connection, now: datetime, channel: int | None = None, notice: int | None = None) -> int:
    """Retry deliveries that were given up, of all or of one channel or notice; returns how many."""
    alive = select(channels.c.id).where(channels.c.removed_at.is_(None))
    again = update(deliveries).where(deliveries.c.state == State.DEAD.value, deliveries.c.channel.in_(alive))
    if channel is not None:
        again = again.where(deliveries.c.channel == channel)
    if notice is not None:
        again = again.where(deliveries.c.notice == notice)
    return connection.execute(again.values(state=State.PENDING.value, attempts=0, next_at=now)).rowcount


def abandon(connection: Connection, channel: int, reason: str) -> int:
    """Give up all pending deliveries of a channel; returns how many."""
    waiting = update(deliveries).where(deliveries.c.channel == channel, deliveries.c.state == State.PENDING.value)
    values = {"state": State.DEAD.value, "next_at": None, "leased_until": None, "error": reason[:_MAX_ERROR_LENGTH]}
    return connection.execute(waiting.values(values)).rowcount


@dataclass(frozen=True)
class Backlog:
    """Deliveries that are not done: those that wait, those that were given up, and since when the oldest is due."""

    pending: int
    dead: int
    due_since: datetime | None


def backlog(connection: Connection) -> Backlog:
    """Count the deliveries that are not done, of all contracts."""
    open_states = (State.PENDING.value, State.DEAD.value)
    query = select(deliveries.c.state, func.count().label("deliveries"), func.min(deliveries.c.next_at).label("due"))
    rows = connection.execute(query.where(deliveries.c.state.in_(open_states)).group_by(deliveries.c.state))
    found = {row.state: row for row in rows}
    pending, dead = (found.get(state) for state in open_states)
    return Backlog(
        pending.deliveries if pending else 0, dead.deliveries if dead else 0, pending.due if pending else None
    )


def _this(due: Due) -> Update:
    return update(deliveries).where(deliveries.c.notice == due.notice.seq, deliveries.c.channel == due.channel.id)


def _update_leased(due: Due) -> Update:
    """Select the delivery only while the lease is ours, so that a late result does not overwrite another worker's."""
    return _this(due).where(deliveries.c.state == State.PENDING.value, deliveries.c.leased_until == due.leased_until)


PER_CHANNEL = 8


class Lane(StrEnum):
    """Channels are claimed in two lanes, so that failing channels never use all workers."""

    ANY = "any"
    CALM = "calm"
    TROUBLED = "troubled"


@dataclass(frozen=True)
class Choice:
    """The channels that a claim may use."""

    lane: Lane = Lane.ANY
    troubled: frozenset[int] = frozenset()
    resting: frozenset[int] = frozenset()


EVERY_CHANNEL = Choice()


def claim(
    connection: Connection,
    now: datetime,
    limit: int,
    lease: timedelta,
    choice: Choice = EVERY_CHANNEL,
    per_channel: int = PER_CHANNEL,
) -> list[Due]:
    """Find due deliveries and lease them."""
    return take(connection, find(connection, now, limit, choice, per_channel), now, lease)


def find(
    connection: Connection,
    now: datetime,
    limit: int,
    choice: Choice = EVERY_CHANNEL,
    per_channel: int = PER_CHANNEL,
) -> list[Key]:
    """Find due deliveries on at most `limit` channels: of each contract only the earliest undelivered one."""
    if limit < 1:
        return []
    rows = connection.execute(_ready(now, choice, per_channel).limit(limit * per_channel)).all()
    first = set(list(dict.fromkeys(row.channel for row in rows))[:limit])
    return [Key(row.notice, row.channel) for row in rows if row.channel in first]


def take(connection: Connection, keys: Sequence[Key], now: datetime, lease: timedelta) -> list[Due]:
    """Lease the deliveries that no other worker has leased meanwhile."""
    if not keys:
        return []
    taking = (
        update(deliveries)
        .where(tuple_(deliveries.c.notice, deliveries.c.channel).in_(keys))
        .where(deliveries.c.state == State.PENDING.value, deliveries.c.next_at <= now)
        .where(or_(deliveries.c.leased_until.is_(None), deliveries.c.leased_until < now))
        .where(deliveries.c.channel.not_in(_busy(now)))
        .values(leased_until=now + lease)
        .returning(deliveries.c.notice, deliveries.c.channel)
    )
    taken = {Key(row.notice, row.channel) for row in connection.execute(taking)}
    return _read(connection, [key for key in keys if key in taken])


def _ready(now: datetime, choice: Choice, per_channel: int) -> Select[tuple[int, int]]:
    """Select the due heads of the queues, the longest waiting first, channel by channel."""
    waiting = (
        select(deliveries.c.notice, deliveries.c.channel, deliveries.c.attempts, deliveries.c.next_at)
        .add_columns(_place(deliveries.c.channel, deliveries.c.contract, by=(deliveries.c.notice,)))
        .where(deliveries.c.state == State.PENDING.value)
        .where(deliveries.c.channel.not_in(choice.resting), deliveries.c.channel.not_in(_busy(now)))
        .subquery("waiting")
    )
    channel = waiting.c.channel
    ready = (
        select(
            waiting.c.notice,
            channel,
            func.min(waiting.c.next_at).over(partition_by=channel).label("waits_since"),
            func.max(waiting.c.attempts).over(partition_by=channel).label("attempts"),
            _place(channel, by=(waiting.c.next_at, waiting.c.notice)),
        )
        .join(channels, and_(channels.c.id == channel, channels.c.removed_at.is_(None)))
        .where(waiting.c.place == 1, waiting.c.next_at <= now)
        .subquery("ready")
    )
    troubled = or_(ready.c.attempts > 0, ready.c.channel.in_(choice.troubled))
    chosen = select(ready.c.notice, ready.c.channel).where(ready.c.place <= per_channel)
    if choice.lane is not Lane.ANY:
        chosen = chosen.where(troubled if choice.lane is Lane.TROUBLED else ~troubled)
    return chosen.order_by(ready.c.waits_since, ready.c.channel, ready.c.place)


def _place(*among: ColumnElement[Any], by: Sequence[ColumnElement[Any]]) -> Label[int]:
    return func.row_number().over(partition_by=among, order_by=by).label("place")


def _busy(now: datetime) -> Select[tuple[int]]:
    """Select the channels with a current lease."""
    return select(deliveries.c.channel).where(
        deliveries.c.state == State.PENDING.value, deliveries.c.leased_until >= now
    )


def _read(connection: Connection, keys: Sequence[Key]) -> list[Due]:
    if not keys:
        return []
    statement = (
        select(notices, channels.c.id.label("channel_id"), channels.c.party, channels.c.kind.label("channel_kind"))
        .add_columns(channels.c.target, channels.c.secret, channels.c.previous_secret, channels.c.previous_until)
        .add_columns(deliveries.c.attempts, deliveries.c.leased_until)
        .select_from(deliveries)
        .join(notices, notices.c.seq == deliveries.c.notice)
        .join(channels, channels.c.id == deliveries.c.channel)
        .where(tuple_(deliveries.c.notice, deliveries.c.channel).in_(keys))
    )
    dues = {Key(row.seq, row.channel_id): _due(row) for row in connection.execute(statement)}
    return [dues[key] for key in keys]


def _due(row: Row[tuple[object, ...]]) -> Due:
    notice = Notice(
        seq=row.seq,
        id=row.id,
        at=row.at,
        kind=row.kind,
        contract=row.contract,
        version=row.version,
        headline=row.headline,
        details=row.details,
        parties=tuple(row.parties),
    )
    channel = Channel(
        row.channel_id,
        row.party,
        ChannelKind(row.channel_kind),
        row.target,
        row.secret,
        row.previous_secret,
        row.previous_until,
    )
    return Due(notice, channel, row.attempts, row.leased_until)
