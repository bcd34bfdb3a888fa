"""Certificates of publishers, profiles of events and drift of meaning."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Date, Index, String, Table, Text

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA
from treaty.registry.store.types import Moment, Name

certificates = Table(
    "certificates",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("publisher", Name, nullable=False),
    Column("contract", Name, nullable=False),
    Column("major", BigInteger, nullable=False),  # of the line
    Column("version", Text, nullable=False),
    Column("event_type", Text, nullable=False),
    Column("report", JSON, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("signature", String(64)),  # null if no key of audit checkpoints is set
    Column("issued_at", Moment, nullable=False),
    Column("issued_by", ActorId, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("revoked_by", ActorId),
    Column("revoked_reason", Text),
    Index("ix_certificates_contract", "contract", "major", "issued_at"),
)
"""That publishers keep to contracts, with the evidence; changed only when one is revoked."""


event_profiles = Table(
    "event_profiles",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True),
    Column("version", String(64), primary_key=True),
    Column("hour", Moment, primary_key=True),  # in which the runs began
    Column("run", BigInteger, nullable=False),  # the last one
    Column("at", Moment, nullable=False),  # when it began
    Column("covers_day", Boolean, nullable=False),
    Column("profile", JSON, nullable=False),
    Column("drifted", JSON, nullable=False),  # the metrics that are no reference for later runs
    Column("recorded_at", Moment, nullable=False),
    Column("recorded_by", ActorId, nullable=False),
)
"""What the events of runs looked like, by hour: counts in bins, without values."""


drift_findings = Table(
    "drift_findings",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True),
    Column("fingerprint", String(16), primary_key=True),
    Column("version", String(64), nullable=False),
    Column("first_seen", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("run", BigInteger, nullable=False),
    Column("is_present", Boolean, nullable=False),  # whether the newest events show it
    Column("finding", JSON, nullable=False),
)
"""Drift of meaning that profiles showed."""


drift_decisions = Table(
    "drift_decisions",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True),
    Column("fingerprint", String(16), primary_key=True),
    Column("answer", String(32), nullable=False),
    Column("owner", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("until", Date),
    Column("draft", String(64)),  # the version that declares the new meaning
    Column("answered_at", Moment, nullable=False),
    Column("answered_by", ActorId, nullable=False),
)
"""What was answered to a drift finding; an explanation holds until its day."""
