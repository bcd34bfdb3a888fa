"""What was measured, what broke, and the names of datasets."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Double, Index, Integer, String, Table, Text

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA, partial_index
from treaty.registry.store.types import Moment, Name, Number

measures = Table(
    "measures",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True, autoincrement=False),  # of the line
    Column("name", Name, primary_key=True),
    Column("at", Moment, primary_key=True),
    Column("value", Double, nullable=False),
    Column("unit", Text, nullable=False),
    Column("promise", Double),
    Column("state", String(8)),
    Column("details", JSON, nullable=False),
    Column("recorded_by", ActorId, nullable=False),
)
"""Measures over time; deleted when they are older than the retention."""


current_measures = Table(
    "current_measures",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True, autoincrement=False),  # of the line
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


incidents = Table(
    "incidents",
    METADATA,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contract", Name, nullable=False),
    Column("major", BigInteger, nullable=False),  # of the line
    Column("measure", Name, nullable=False),
    Column("severity", String(8), nullable=False),
    Column("opened_at", Moment, nullable=False),
    Column("first_seen", Moment, nullable=False),
    Column("owners", JSON, nullable=False),  # the teams, when it was opened
    Column("escalated_at", Moment),
    Column("acknowledged_at", Moment),
    Column("acknowledged_by", ActorId),
    Column("reason", Text),
    Column("closed_at", Moment),
    Column("resolution", Text),
    Column("root", BigInteger),  # the incident that caused it
    Column("cause", Text, nullable=False),  # from here on: what the newest measure says; the log does not vouch for it
    Column("evidence", JSON, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("blocked", JSON, nullable=False),  # the lines that wait for this one
    Index("ix_incidents_line", "contract", "major"),
    partial_index("ix_incidents_open", "closed_at IS NULL", "contract", "major"),
)
"""Broken promises; the id is the audit entry that opened one."""


line_health = Table(
    "line_health",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True, autoincrement=False),  # of the line
    Column("rank", Integer, nullable=False),  # of the state: the worst of a contract is its health
    Column("cause", Text, nullable=False),
    Column("blocked_by", Text),  # the line that it waits for
    Column("incident", BigInteger),
    Column("since", Moment),
    Column("valid_until", Moment),  # null: until a measure or an incident changes it
    Column("silent_at", Moment),  # when the next measure is overdue
    Index("ix_line_health_rank", "contract", "rank"),
    partial_index("ix_line_health_silent_at", "silent_at IS NOT NULL", "silent_at"),
)
"""The health of each measured line; it follows from measures, incidents and lineage."""


datasets = Table(
    "datasets",
    METADATA,
    Column("namespace", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True, autoincrement=False),  # of the line
    Column("object", Text),  # the schema object, if the contract has several
    Column("declared", Boolean, nullable=False),  # by a server of the contract; otherwise a run named it
    Index("ix_datasets_line", "contract", "major"),
)
"""The names of datasets in OpenLineage; they follow from the servers of versions and from the events of runs."""
