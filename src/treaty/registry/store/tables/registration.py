"""Contracts and their versions, who owns which ids, and what lines are derived from."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA, partial_index
from treaty.registry.store.types import Moment, Name, Number

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
    partial_index("ix_contracts_private", "readers IS NOT NULL", "id"),
    Column("skeleton", Name, index=True),  # what look-alike ids share; it follows from the id
    partial_index("ix_contracts_parent", "parent IS NOT NULL", "parent"),
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
    partial_index("ix_versions_dated", "announced_on IS NOT NULL OR expires_on IS NOT NULL", "seq"),
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
    partial_index("ix_upstreams_waiting", "upstream_major = -1 AND active", "upstream"),
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
