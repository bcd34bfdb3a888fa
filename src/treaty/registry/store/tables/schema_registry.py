"""Schemas and subjects of Kafka clients."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Date, Index, String, Table, Text, UniqueConstraint

from treaty.registry.store.tables.identities import ActorId
from treaty.registry.store.tables.metadata import METADATA
from treaty.registry.store.types import Moment, Name, Number

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
