"""Notices, channels and the outbox."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA, partial_index
from treaty.registry.store.types import Moment, Name, Number

notices = Table(
    "notices",
    METADATA,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("id", String(40), nullable=False),
    Column("at", Moment, nullable=False),
    Column("kind", Text, nullable=False),
    Column("contract", Name, nullable=False),
    Column("version", Text),
    Column("headline", Text, nullable=False),
    Column("details", JSON, nullable=False),
    Column("parties", JSON, nullable=False),  # the teams and consumers it is for
)


channels = Table(
    "channels",
    METADATA,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("party", Name, nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("target", Text, nullable=False),
    Column("secret", Text),
    Column("added_at", Moment, nullable=False),
    Column("added_by", ActorId, nullable=False),
    Column("removed_at", Moment),
    Column("previous_secret", Text),
    Column("previous_until", Moment),
)
"""Channels of parties (teams or consumers); secrets and the URLs of webhooks are encrypted."""


deliveries = Table(
    "deliveries",
    METADATA,
    Column("notice", BigInteger, ForeignKey("notices.seq"), primary_key=True),
    Column("channel", BigInteger, ForeignKey("channels.id"), primary_key=True),
    Column("contract", Name, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", Moment),
    Column("leased_until", Moment),
    Column("error", Text),
    Column("delivered_at", Moment),
    Index("ix_deliveries_state", "state", "next_at"),
    partial_index("ix_deliveries_waiting", "state = 'pending'", "channel", "contract", "notice"),
)
"""The outbox: one row for each notice and channel, written with the change it is about."""
