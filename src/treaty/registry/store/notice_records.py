"""Channels and notices in the database; `outbox` has the deliveries that wait."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Text, cast, select

from treaty.errors import NotFound
from treaty.registry.model import ChannelAnswer, DeliveryAnswer, NoticeAnswer
from treaty.registry.notices.channels import Channel, ChannelKind, shown_target
from treaty.registry.store.tables import channels, deliveries, notices
from treaty.registry.store.transaction import CHANNELS, Transaction


@dataclass(frozen=True, slots=True)
class ChannelRecord:
    """A channel with its secret, and who added it."""

    channel: Channel
    added_at: datetime
    added_by: str

    @property
    def answer(self) -> ChannelAnswer:
        """The channel without its secret and without the path of its URL."""
        channel = self.channel
        return ChannelAnswer(
            id=channel.id,
            party=channel.party,
            kind=channel.kind.value,
            target=shown_target(channel),
            signed=channel.secret is not None,
            added_by=self.added_by,
            added_at=self.added_at,
        )


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


def remove_channel(transaction: Transaction, identity: int) -> None:
    """Mark a channel as removed."""
    transaction.update(channels, {"id": identity}, {"removed_at": transaction.now})


def find_channel(connection: Connection, identity: int) -> ChannelRecord:
    """Return a channel that was not removed, or raise NotFound."""
    query = select(channels).where(channels.c.id == identity, channels.c.removed_at.is_(None))
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"no channel {identity}; see: treaty admin channel list")
    return _channel(row)


def list_channels(connection: Connection, after: int, limit: int) -> list[ChannelAnswer]:
    """Return channels after an id, in the order they were added."""
    query = select(channels).where(channels.c.id > after, channels.c.removed_at.is_(None))
    return [_channel(row).answer for row in connection.execute(query.order_by(channels.c.id).limit(limit))]


def list_notices(
    connection: Connection, contract: str | None, party: str | None, after: int, limit: int
) -> list[tuple[int, NoticeAnswer]]:
    """Return notices after a number with their deliveries, in the order they were made, each with its number."""
    query = select(notices).where(notices.c.seq > after).order_by(notices.c.seq)
    if contract is not None:
        query = query.where(notices.c.contract == contract)
    if party is not None:  # matched in the JSON text, where the quotes keep a name from matching inside another
        query = query.where(cast(notices.c.parties, Text).contains(json.dumps(party), autoescape=True))
    rows = connection.execute(query.limit(limit)).all()
    sent = _deliveries(connection, [row.seq for row in rows])
    return [(row.seq, _notice(row, sent.get(row.seq, []))) for row in rows]


def _channel(row: Row[Any]) -> ChannelRecord:
    channel = Channel(row.id, row.party, ChannelKind(row.kind), row.target, row.secret)
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
