"""Who reads what: subscriptions and migrations, what events and scans showed, and the log of accesses."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Date, ForeignKey, Index, Integer, String, Table, Text

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA, partial_index
from treaty.registry.store.types import Moment, Name, Number

subscriptions = Table(
    "subscriptions",
    METADATA,
    Column("consumer", Name, primary_key=True),
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True),
    Column("consumer_class", Text, nullable=False),
    Column("fields", JSON, nullable=False),
    Column("purpose", Text),
    Column("latency", Text),
    Column("contact", Text),
    Column("team", Text),
    Column("since", Moment, nullable=False),
    Column("changed_by", ActorId, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("revision", BigInteger, nullable=False, index=True),
    Column("unconfirmed_since", Moment),  # null if the consumer's own team declared or confirmed it
    Column("confirm_by", Date),  # set by a challenge
    Index("ix_subscriptions_line", "contract", "major"),
)
"""Subscriptions; the revision is the audit entry that last changed the row."""


migrations = Table(
    "migrations",
    METADATA,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contract", Name, nullable=False),
    Column("major", BigInteger, nullable=False),  # of the line that consumers leave
    Column("version", Text, nullable=False),  # of that line, when it was opened
    Column("to_major", BigInteger, nullable=False),
    Column("to_version", Text, nullable=False),
    Column("guide", Text),
    Column("window", Text),
    Column("owner", Text),
    Column("state", String(16), nullable=False),
    Column("proposal", BigInteger),
    Column("opened_at", Moment, nullable=False),
    Column("ends_on", Date),
    Column("remind_on", Date),
    Column("closed_at", Moment),
    Column("proof", JSON),
    Index("ix_migrations_line", "contract", "major"),
    partial_index("ix_migrations_remind_on", "remind_on IS NOT NULL", "remind_on"),
)
"""The moves of consumers from one line to the next."""


migration_consumers = Table(
    "migration_consumers",
    METADATA,
    Column("migration", BigInteger, ForeignKey("migrations.id"), primary_key=True),
    Column("consumer", Name, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("effect", String(16), nullable=False),
    Column("consumer_class", Text, nullable=False),
    Column("team", Text),
    Column("reason", Text),
    Column("until", Date),
    Column("changed_at", Moment, nullable=False),
    Column("changed_by", ActorId, nullable=False),
    Column("via", Text),  # the line it reads, if the change reaches it through that line
)
"""The state of each consumer in a migration; later subscribers are added when they acknowledge or move."""


lineage_events = Table(
    "lineage_events",
    METADATA,
    Column("id", String(64), primary_key=True),  # of run, type and time
    Column("at", Moment, nullable=False),
    Column("received_at", Moment, nullable=False, index=True),
    Column("type", String(16), nullable=False),
    Column("run", String(36)),
    Column("job", Text),
)
"""The OpenLineage events that were received, so that each counts once; deleted after the retention."""


observed_usage = Table(
    "observed_usage",
    METADATA,
    Column("consumer", Name, primary_key=True),
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True, autoincrement=False),  # of the line
    Column("job", Text, nullable=False),
    Column("team", Text),
    Column("fields", JSON, nullable=False),  # the day on which each field was last read
    Column("first_seen", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("run", String(36)),  # of the last event
    Column("reported_by", ActorId, nullable=False),
    Column("revision", BigInteger, nullable=False, index=True),
    Index("ix_observed_usage_line", "contract", "major"),
)
"""Who was seen reading which line and fields; the revision is the audit entry of the last new reader or field."""


scanned_reads = Table(
    "scanned_reads",
    METADATA,
    Column("scan", Name, primary_key=True),
    Column("consumer", Name, primary_key=True),
    Column("source", Name, primary_key=True),  # a table, as the scanned text names it
    Column("columns", JSON, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("consumer_class", String(32), nullable=False),  # guessed
    Column("confidence", Integer, nullable=False),  # percent
    Column("reason", Text, nullable=False),
    Column("team", Text),
    Column("latency", Text),
    Column("decision", Text),
    Column("places", JSON, nullable=False),
    Column("parsed", JSON, nullable=False, server_default="[]"),  # columns whose texts are taken apart
    Column("scanned_at", Moment, nullable=False),
    Column("scanned_by", ActorId, nullable=False),
    Index("ix_scanned_reads_consumer", "consumer"),
)
"""What the last scan of each name found: who reads which table."""


consumer_profiles = Table(
    "consumer_profiles",
    METADATA,
    Column("consumer", Name, primary_key=True),
    Column("consumer_class", String(32)),
    Column("latency", Text),
    Column("decision", Text),
    Column("team", Text),
    Column("changed_at", Moment, nullable=False),
    Column("changed_by", ActorId, nullable=False),
)
"""What people said of consumers: it counts more than what scans guess."""


data_accesses = Table(
    "data_accesses",
    METADATA,
    Column("seq", Number, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor", ActorId, nullable=False),
    Column("consumer", Name),  # null if the request named none
    Column("contract", Name, nullable=False),
    Column("major", BigInteger, nullable=False),  # of the line
    Column("version", Text),
    Column("fields", JSON, nullable=False),
    Column("filters", JSON, nullable=False),  # columns only, without values
    Column("rows", BigInteger, nullable=False),
    Column("purpose", Text),
    Column("run", BigInteger),  # of the pipeline that published the rows
    Column("decision", String(24), nullable=False),
    Index("ix_data_accesses_contract", "contract", "seq"),
    Index("ix_data_accesses_consumer", "consumer", "seq"),
)
"""Who asked for which published rows, and what was decided; never changed, kept for a time, without values of rows."""
