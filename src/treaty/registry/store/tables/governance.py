"""Proposals, waivers and the audit log."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Date, Index, LargeBinary, String, Table, Text

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA
from treaty.registry.store.types import Moment, Name, Number

proposals = Table(
    "proposals",
    METADATA,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contract", Name, nullable=False),
    Column("version", Text, nullable=False),
    Column("media", Text, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("mode", Text, nullable=False),
    Column("proposed_at", Moment, nullable=False),
    Column("proposed_by", ActorId, nullable=False),
    Column("state", String(16), nullable=False),
    Column("decided_at", Moment),
    Column("decided_by", ActorId),
    Column("reason", Text),
    Column("proposer_identity", ActorId),  # null before 0008
    Index("ix_proposals_state", "state", "contract"),
)
"""Breaking changes that wait for approval."""


waivers = Table(
    "waivers",
    METADATA,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("rule", Text, nullable=False),
    Column("contract", Name, nullable=False),
    Column("path", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("until", Date, nullable=False),
    Column("granted_at", Moment, nullable=False),
    Column("granted_by", ActorId, nullable=False),
    Column("revoked_at", Moment),
    Column("ended_at", Moment),  # when its owner was notified that its last day is over
)


audit = Table(
    "audit",
    METADATA,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("actor", ActorId, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Name, nullable=False),
    Column("before", String(64)),
    Column("after", String(64)),
    Column("details", JSON, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("row_digests", JSON(none_as_null=True)),  # of the rows that the transaction wrote; null before 0005
    Column("converted_from", String(64)),  # the hash that an entry with the name of its actor had, before 0017
)
"""The audit log: each entry contains the hash of the one before it; triggers refuse changes."""
