"""Channels and notices in the database; `outbox` has the deliveries that wait."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Text, and_, cast, or_, select

from treaty.errors import NotFound
from treaty.registry.model import DeliveryAnswer, NoticeAnswer
from treaty.registry.notices.channels import HIDDEN, WEB_KINDS, Channel, ChannelKind
from treaty.registry.notices.secret_box import PREFIX
from treaty.registry.store.tables import channels, deliveries, notices
from treaty.registry.store.teams import hidden_parties
from treaty.registry.store.transaction import CHANNELS, Transaction
from treaty.registry.store.visibility import Visibility


@dataclass(frozen=True, slots=True)
class ChannelRecord:
    """A channel as it is stored, with its secrets encrypted, and who added it."""

    channel: Channel
    added_at: datetime
    added_by: str


def add_channel(transaction: Transaction, record: ChannelRecord) -> None:
    """Store a channel."""
    channel = record.channel
    transaction.insert(
        channels,
        {
            "id": channel.id,
            "party": channel.party,
            "kind": channel.kind.value,
            "target": channel.target,
            "secret": channel.secret,
            "added_at": record.added_at,
            "added_by": record.added_by,
        },
    )
    transaction.forget(CHANNELS)


def remove_channel(transaction: Transaction, identity: int, shown_target: str) -> None:
    """Mark a channel as removed, and delete its secrets; of its target remains what may be shown."""
    values = {"target": shown_target, "secret": None, "previous_secret": None, "previous_until": None}
    transaction.update(channels, {"id": identity}, {"removed_at": transaction.now, **values})


def update_secrets(transaction: Transaction, channel: Channel) -> None:
    """Store the target and secrets of a channel."""
    names = ("target", "secret", "previous_secret", "previous_until")
    transaction.update(channels, {"id": channel.id}, {name: getattr(channel, name) for name in names})


def all_channels(connection: Connection) -> list[Channel]:
    """Return every channel that was not removed, as it is stored."""
    query = select(channels).where(channels.c.removed_at.is_(None)).order_by(channels.c.id)
    return [_channel(row).channel for row in connection.execute(query)]


def plain_channels(connection: Connection) -> list[Channel]:
    """Return the channels whose secrets or URLs are not encrypted yet, removed ones included."""
    is_plain = or_(
        and_(channels.c.kind.in_([kind.value for kind in WEB_KINDS]), _is_plain(channels.c.target)),
        _is_plain(channels.c.secret),
    )
    return [_channel(row).channel for row in connection.execute(select(channels).where(is_plain))]


def _is_plain(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Match what is not null, not encrypted, and not the rest of a removed channel."""
    return and_(column.is_not(None), column.not_like(f"{PREFIX}%"), column.not_like(f"%{HIDDEN}"))


def find_channel(connection: Connection, identity: int) -> ChannelRecord:
    """Return a channel that was not removed, or raise NotFound."""
    query = select(channels).where(channels.c.id == identity, channels.c.removed_at.is_(None))
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"no channel {identity}; see: treaty admin channel list")
    return _channel(row)


def list_channels(connection: Connection, after: int, limit: int) -> list[ChannelRecord]:
    """Return channels after an id, in the order they were added."""
    query = select(channels).where(channels.c.id > after, channels.c.removed_at.is_(None))
    return [_channel(row) for row in connection.execute(query.order_by(channels.c.id).limit(limit))]


def list_notices(
    connection: Connection, visibility: Visibility, contract: str | None, party: str | None, after: int, limit: int
) -> list[tuple[int, NoticeAnswer]]:
    """Return notices after a number with their deliveries, in the order they were made, each with its number.

    Notices of contracts that the actor may not see are left out, and so are the names of their teams and consumers.
    """
    hidden = hidden_parties(connection, visibility) if visibility.hidden else frozenset()
    if party in hidden:
        return []
    query = select(notices).where(notices.c.seq > after, *visibility.conditions(notices.c.contract))
    query = query.order_by(notices.c.seq)
    if contract is not None:
        query = query.where(notices.c.contract == contract)
    if party is not None:  # matched in the JSON text, where the quotes keep a name from matching inside another
        query = query.where(cast(notices.c.parties, Text).contains(json.dumps(party), autoescape=True))
    rows = connection.execute(query.limit(limit)).all()
    sent = _deliveries(connection, [row.seq for row in rows])
    answers = [(row.seq, _notice(row, sent.get(row.seq, []))) for row in rows]
    return [(seq, _without(notice, hidden)) for seq, notice in answers] if hidden else answers


def _without(notice: NoticeAnswer, hidden: frozenset[str]) -> NoticeAnswer:
    """Return a notice that names none of some parties; it may be older than their contract is private."""
    details = dict(notice.details)
    for name in ("consumers", "lines"):
        named = details.get(name)
        if isinstance(named, dict):
            details[name] = {key: value for key, value in named.items() if key not in hidden}
        elif isinstance(named, list):
            details[name] = [text for text in named if str(text).rpartition("@")[0] not in hidden]
    return notice.model_copy(
        update={
            "details": details,
            "parties": [party for party in notice.parties if party not in hidden],
            "headline": notice.headline if hidden.isdisjoint(_words(notice.headline)) else "not visible to you",
        }
    )


def _words(headline: str) -> set[str]:
    """Return the names that a headline may contain, with and without the line."""
    words = {word.strip(",:;") for word in headline.split()}
    return words | {word.rpartition("@")[0] for word in words}


def _channel(row: Row[Any]) -> ChannelRecord:
    channel = Channel(
        row.id,
        row.party,
        ChannelKind(row.kind),
        row.target,
        row.secret,
        row.previous_secret,
        row.previous_until,
    )
    return ChannelRecord(channel, row.added_at, row.added_by)


def _deliveries(connection: Connection, seqs: list[int]) -> dict[int, list[DeliveryAnswer]]:
    answers: dict[int, list[DeliveryAnswer]] = {}
    query = select(deliveries).where(deliveries.c.notice.in_(seqs)).order_by(deliveries.c.notice, deliveries.c.channel)
    for row in connection.execute(query):
        answer = DeliveryAnswer(**{name: row._mapping[name] for name in DeliveryAnswer.model_fields})
        answers.setdefault(row.notice, []).append(answer)
    return answers


def _notice(row: Row[Any], sent: list[DeliveryAnswer]) -> NoticeAnswer:
    names = set(NoticeAnswer.model_fields) - {"deliveries"}
    return NoticeAnswer(**{name: row._mapping[name] for name in names}, deliveries=sent)
