"""Legacy feeds, their parallel runs, and the cut-over of their consumers."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Date, Index, String, Table, Text

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA
from treaty.registry.store.types import Moment, Name, Number

parallel_runs = Table(
    "parallel_runs",
    METADATA,
    Column("feed", Name, primary_key=True),
    Column("as_of", Date, primary_key=True),
    Column("contract", Name, nullable=False),  # of the publication that replaces the feed
    Column("major", BigInteger, nullable=False),
    Column("owner", Text, nullable=False),  # of the feed
    Column("legacy_rows", BigInteger, nullable=False),
    Column("new_rows", BigInteger, nullable=False),
    Column("fingerprints", JSON, nullable=False),  # of the findings
    Column("result", JSON, nullable=False),
    Column("recorded_at", Moment, nullable=False),
    Column("recorded_by", ActorId, nullable=False),
)
"""What each parallel run of a legacy feed found."""


finding_dispositions = Table(
    "finding_dispositions",
    METADATA,
    Column("feed", Name, primary_key=True),
    Column("fingerprint", String(16), primary_key=True),
    Column("title", Text, nullable=False),
    Column("disposition", String(32), nullable=False),
    Column("owner", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("term", Text),  # of the contract, if the two sides mean different things
    Column("decided_at", Moment, nullable=False),
    Column("decided_by", ActorId, nullable=False),
    Column("decided_for", Date),  # the day of the run that showed it; null before 0027
)
"""What was decided about a finding; it holds as long as later runs find the same pattern."""


legacy_feeds = Table(
    "legacy_feeds",
    METADATA,
    Column("feed", Name, primary_key=True),
    Column("contract", Name, nullable=False),  # of the publication that replaces the feed
    Column("major", BigInteger, nullable=False),
    Column("owner", Text, nullable=False),
    Column("names", JSON, nullable=False),  # of the tables under which it is read
    Column("consumers", JSON, nullable=False),  # as the feed declares them
    Column("gate", JSON, nullable=False),
    Column("produced", Text),
    Column("declared_at", Moment, nullable=False),
    Column("declared_by", ActorId, nullable=False),
    Column("retired_at", Moment),
    Column("retired_by", ActorId),
)
"""Legacy feeds as projects declare them; they are not contracts."""


cutover_steps = Table(
    "cutover_steps",
    METADATA,
    Column("seq", Number, primary_key=True, autoincrement=False),
    Column("feed", Name, nullable=False),
    Column("consumer", Name, nullable=False),
    Column("step", String(16), nullable=False),
    Column("reason", Text),
    Column("taken_at", Moment, nullable=False),
    Column("taken_by", ActorId, nullable=False),
    Index("ix_cutover_steps_feed", "feed", "consumer"),
)
"""What people did to move a consumer from a legacy feed to its publication; the state follows from it and from runs."""


legacy_reads = Table(
    "legacy_reads",
    METADATA,
    Column("feed", Name, primary_key=True),
    Column("consumer", Name, primary_key=True),
    Column("job", Text, nullable=False),
    Column("team", Text),
    Column("first_seen", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("reported_by", ActorId, nullable=False),
)
"""Who reads a legacy feed, as lineage events tell."""
