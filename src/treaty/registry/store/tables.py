"""The tables of the registry; Alembic migrations create them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    ScalarSelect,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    literal,
    select,
    text,
    type_coerce,
)
from sqlalchemy.types import TypeDecorator

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


actors = Table(
    "actors",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("name", Text, unique=True),  # a name, or the identity of a sign-in; null: erased
    Column("salt", String(32)),  # keeps the digest of the row from confirming a guessed name; erased with it
    Column("erased_at", Moment),
)
"""The names of those who act. All other tables refer to them by random ids, so that a name can be erased."""

ERASED = "erased user "
"""What the registry shows before the id of an actor whose name was erased."""

name_of_actor = func.coalesce(actors.c.name, literal(ERASED, Text, literal_execute=True).concat(actors.c.id))
"""The name of an actor, or words in its place if it was erased."""


class ActorId(TypeDecorator[str]):
    """The id of an actor; a query returns the name instead, see `stored`."""

    impl = Text
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the name of the actor, or words in its place if the name was erased."""
        identity = type_coerce(column, Text)
        name = select(name_of_actor).where(actors.c.id == identity).correlate_except(actors).scalar_subquery()
        return func.coalesce(name, identity)


def stored(column: Column[Any]) -> ColumnElement[Any]:
    """Select a column as it is stored: an actor by the id, not by the name."""
    return type_coerce(column, Text).label(column.name) if isinstance(column.type, ActorId) else column


@cache
def actor_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a table that refer to actors."""
    return tuple(column.name for column in table.columns if isinstance(column.type, ActorId))


def id_of_actor(name: str) -> ScalarSelect[str]:
    """Return the query of the id of an actor, to compare a column with."""
    return select(actors.c.id).where(actors.c.name == name).scalar_subquery()


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
    Column("searched_names", Text, nullable=False),  # folded; lists are between line breaks
    Column("searched_domain", Text, nullable=False),
    Column("searched_owners", Text, nullable=False),
    Column("searched_fields", Text, nullable=False),
    Column("searched_tags", Text, nullable=False),
    Column("searched_meanings", Text, nullable=False),
    Column("readers", JSON(none_as_null=True)),  # who may read it; null: everyone
    _partial_index("ix_contracts_private", "readers IS NOT NULL", "id"),
    Column("skeleton", Name, index=True),  # what look-alike ids share; it follows from the id
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
    Column("registered_by", ActorId, nullable=False),
    Column("issues", JSON(none_as_null=True)),  # of its compatibility report; null before 0009
    Column("status", String(16), nullable=False),  # from here on: its life, the only part that changes
    Column("deprecation_uri", Text),
    Column("announced_on", Date),
    Column("sunset_on", Date),
    Column("retire_on", Date),
    Column("expires_on", Date),
    Column("replacement", Text),
    Column("deprecation_reason", Text),
    UniqueConstraint("contract", "major", "minor", "patch"),
    _partial_index("ix_versions_dated", "announced_on IS NOT NULL OR expires_on IS NOT NULL", "seq"),
)
"""Every registered version; a trigger refuses changes to the columns above `status`."""

namespaces = Table(
    "namespaces",
    METADATA,
    Column("prefix", Name, primary_key=True),
    Column("skeleton", Name, nullable=False, index=True),
    Column("team", Text, nullable=False),
    Column("assigned_at", Moment, nullable=False),
    Column("assigned_by", ActorId, nullable=False),
    Column("released_at", Moment),
)
"""Prefixes of ids, and the teams that they belong to."""

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
    Column("mappings", JSON(none_as_null=True)),  # the upstream fields that each field is computed from
    Column("observed", JSON(none_as_null=True)),  # fields and mappings as the last run computed them
    _partial_index("ix_upstreams_waiting", "upstream_major = -1 AND active", "upstream"),
)
"""Which line is made from which: the lineage that contracts declare, if it is active, and what runs observed."""

line_layers = Table(
    "line_layers",
    METADATA,
    Column("contract", Name, primary_key=True),
    Column("major", BigInteger, primary_key=True),
    Column("layer", Text, nullable=False),
)
"""The layer in which a pipeline publishes a line, as its last run recorded it."""

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
    Column("changed_by", ActorId, nullable=False),
    Column("via", Text),  # the line it reads, if the change reaches it through that line
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
    _partial_index("ix_deliveries_waiting", "state = 'pending'", "channel", "contract", "notice"),
)
"""The outbox: one row for each notice and channel, written with the change it is about."""

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
    _partial_index("ix_incidents_open", "closed_at IS NULL", "contract", "major"),
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
    _partial_index("ix_line_health_silent_at", "silent_at IS NOT NULL", "silent_at"),
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

schemas = Table(
    "schemas",
    METADATA,
    Column("context", Name, primary_key=True),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),  # of what makes two schemas the same
    Column("type", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("refs", JSON, nullable=False),  # name, subject and version of each reference
    Column("metadata", JSON(none_as_null=True)),
    Column("rule_set", JSON(none_as_null=True)),
    UniqueConstraint("context", "digest"),
)
"""Schemas of Kafka clients by context and id; a row never changes."""

subjects = Table(
    "subjects",
    METADATA,
    Column("context", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("contract", Name),  # null: no contract describes what the subject's schemas describe
    Column("object", Text),  # the table or topic of the contract
    Column("config", JSON(none_as_null=True)),
    Column("mode", String(24)),
    Index("ix_subjects_contract", "contract"),
)
"""Subjects with their contract, configuration and mode; the name is empty for those of a context."""

subject_versions = Table(
    "subject_versions",
    METADATA,
    Column("context", Name, primary_key=True),
    Column("subject", Name, primary_key=True),
    Column("version", Number, primary_key=True, autoincrement=False),
    Column("schema", Number, nullable=False),  # the id of the schema in its context
    Column("contract", Name),
    Column("contract_version", Text),
    Column("registered_at", Moment, nullable=False),
    Column("registered_by", ActorId, nullable=False),
    Column("deleted_at", Moment),  # soft
    Column("removed_at", Moment),  # permanently: the number may be used again
    Index("ix_subject_versions_schema", "context", "schema"),
)
"""The versions of subjects."""

schema_references = Table(
    "schema_references",
    METADATA,
    Column("context", Name, primary_key=True),
    Column("schema", Number, primary_key=True, autoincrement=False),
    Column("subject", Name, primary_key=True),  # of the same context, or qualified by another one
    Column("version", Number, primary_key=True, autoincrement=False),
    Index("ix_schema_references_subject", "context", "subject", "version"),
)
"""Which schema refers to which version of a subject; it follows from the schemas."""

schema_usage = Table(
    "schema_usage",
    METADATA,
    Column("context", Name, primary_key=True),
    Column("schema", Number, primary_key=True, autoincrement=False),
    Column("subject", Name, primary_key=True),  # empty if the client did not name one
    Column("client", Name, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("reads", BigInteger, nullable=False),
    Column("registrations", BigInteger, nullable=False),
)
"""How often clients fetched or registered a schema on each day."""

tokens = Table(
    "tokens",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("name", ActorId, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("team", Text),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", ActorId, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("holder", ActorId),  # the identity it was created for, if it is not its own
    Column("last_used_at", Moment),  # within minutes; the audit log does not vouch for it
)

SESSION_ID_LENGTH = 16
"""The characters of the digest that name a session in lists."""

sessions = Table(
    "sessions",
    METADATA,
    Column("digest", String(64), primary_key=True),  # of the secret id
    Column("name", ActorId, nullable=False),
    Column("identity", ActorId, nullable=False),
    Column("via", String(16), nullable=False),
    Column("token", String(32), index=True),
    Column("grants", JSON, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("login", String(64), unique=True),  # of the state of an OIDC sign-in
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
)
"""Sessions of browsers; deleted some time after they ended."""
