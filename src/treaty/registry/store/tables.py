"""The tables of the registry; Alembic migrations create them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from treaty.registry.store.types import Moment, Name, Number

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


T = TypeVar("T")
MAX_KEYS_PER_QUERY = 200
"""Keys in one IN list, below the limit of every database."""


def in_batches(keys: Sequence[T], size: int = MAX_KEYS_PER_QUERY) -> Iterator[Sequence[T]]:
    """Split keys into parts that fit into one query."""
    return (keys[start : start + size] for start in range(0, len(keys), size))


def _partial_index(name: str, condition: str, *columns: str) -> Index:
    """Return an index over the rows that a question is about, so that the others cost nothing."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


contracts = Table(
    "contracts",
    METADATA,
    Column("id", Name, primary_key=True),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("version", Text, nullable=False),  # the highest, whose words are searched
    Column("name", Text),
    Column("domain", Text),
    Column("tier", Text),
    Column("parent", Name),
    Column("summary", Text),
    Column("searched_names", Text, nullable=False),  # folded; lists stand between line breaks
    Column("searched_domain", Text, nullable=False),
    Column("searched_owners", Text, nullable=False),
    Column("searched_fields", Text, nullable=False),
    Column("searched_tags", Text, nullable=False),
    Column("searched_meanings", Text, nullable=False),
    _partial_index("ix_contracts_parent", "parent IS NOT NULL", "parent"),
)
"""One row per contract, for searches."""

versions = Table(
    "versions",
    METADATA,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("contract", Name, ForeignKey("contracts.id"), nullable=False),
    Column("version", Text, nullable=False),
    Column("major", BigInteger, nullable=False),
    Column("minor", BigInteger, nullable=False),
    Column("patch", BigInteger, nullable=False),
    Column("form", String(8), nullable=False),
    Column("media", Text, nullable=False),
    Column("document", LargeBinary, nullable=False),  # as it was given
    Column("parsed", Text, nullable=False),  # the same as JSON, ready to be read again
    Column("digest", String(64), nullable=False),
    Column("mode", Text, nullable=False),
    Column("owners", JSON, nullable=False),
    Column("registered_at", Moment, nullable=False),
    Column("registered_by", Text, nullable=False),
    Column("status", String(16), nullable=False),  # from here on: its life, the only part that changes
    Column("deprecation_uri", Text),
    Column("announced_on", Date),
    Column("sunset_on", Date),
    Column("retire_on", Date),
    Column("expires_on", Date),
    UniqueConstraint("contract", "major", "minor", "patch"),
    _partial_index("ix_versions_dated", "announced_on IS NOT NULL OR expires_on IS NOT NULL", "seq"),
)
"""Every registered version; a trigger refuses changes to the columns above `status`."""

upstreams = Table(
    "upstreams",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True),
    Column("upstream", Name, primary_key=True),
    Column("upstream_major", BigInteger, primary_key=True),  # -1 where the document names no line
    Column("fields", JSON, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("revision", BigInteger, nullable=False, index=True),
    _partial_index("ix_upstreams_waiting", "upstream_major = -1 AND active", "upstream"),
)
"""Which line is made from which: the lineage that contracts declare."""

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
    Column("changed_by", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("revision", BigInteger, nullable=False, index=True),
    Index("ix_subscriptions_line", "contract", "major"),
)
"""Subscriptions; the revision is the audit entry that last changed the row."""

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
    Column("proposed_by", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("decided_at", Moment),
    Column("decided_by", Text),
    Column("reason", Text),
    Index("ix_proposals_state", "state", "contract"),
)
"""Breaking changes that wait for approval."""

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
    _partial_index("ix_migrations_remind_on", "remind_on IS NOT NULL", "remind_on"),
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
    Column("changed_by", Text, nullable=False),
)
"""The state of each consumer in a migration; later subscribers are added when they acknowledge or move."""

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
    Column("granted_by", Text, nullable=False),
    Column("revoked_at", Moment),
)

audit = Table(
    "audit",
    METADATA,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Name, nullable=False),
    Column("before", String(64)),
    Column("after", String(64)),
    Column("details", JSON, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("row_digests", JSON(none_as_null=True)),  # of the rows that the transaction wrote; null before 0005
)
"""The audit log: each entry contains the hash of the one before it; triggers refuse changes."""

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
    Column("added_by", Text, nullable=False),
    Column("removed_at", Moment),
)
"""Channels of parties (teams or consumers)."""

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
    _partial_index("ix_deliveries_waiting", "state = 'pending'", "channel", "contract", "notice"),
)
"""The outbox: one row for each notice and channel, written with the change it is about."""

measures = Table(
    "measures",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("at", Moment, primary_key=True),
    Column("value", Double, nullable=False),
    Column("unit", Text, nullable=False),
    Column("promise", Double),
    Column("state", String(8)),
    Column("details", JSON, nullable=False),
    Column("recorded_by", Text, nullable=False),
)
"""Measures over time; deleted after 400 days."""

current_measures = Table(
    "current_measures",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("value", Double, nullable=False),
    Column("unit", Text, nullable=False),
    Column("promise", Double),
    Column("state", String(8)),
    Column("details", JSON, nullable=False),
    Column("rank", Integer, nullable=False),  # of the state: the worst of a contract is its health
    Index("ix_current_measures_name", "name", "contract"),
    Index("ix_current_measures_rank", "contract", "rank"),  # lists of contracts show the highest
)
"""The newest measure of each kind, so that lists need not look for it."""

tokens = Table(
    "tokens",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("team", Text),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
)
