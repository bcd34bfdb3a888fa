"""Subjects, their versions and schemas, for Kafka clients."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name, Number

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "schemas",
        sa.Column("context", Name, nullable=False),
        sa.Column("id", Number, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("refs", sa.JSON(), nullable=False),
        sa.Column("metadata", sa.JSON()),
        sa.Column("rule_set", sa.JSON()),
        sa.PrimaryKeyConstraint("context", "id", name="pk_schemas"),
        sa.UniqueConstraint("context", "digest", name="uq_schemas_context_digest"),
    )
    op.create_table(
        "subjects",
        sa.Column("context", Name, nullable=False),
        sa.Column("name", Name, nullable=False),
        sa.Column("contract", Name),
        sa.Column("object", sa.Text()),
        sa.Column("config", sa.JSON()),
        sa.Column("mode", sa.String(24)),
        sa.PrimaryKeyConstraint("context", "name", name="pk_subjects"),
    )
    op.create_index("ix_subjects_contract", "subjects", ["contract"])
    op.create_table(
        "subject_versions",
        sa.Column("context", Name, nullable=False),
        sa.Column("subject", Name, nullable=False),
        sa.Column("version", Number, nullable=False),
        sa.Column("schema", Number, nullable=False),
        sa.Column("contract", Name),
        sa.Column("contract_version", sa.Text()),
        sa.Column("registered_at", Moment, nullable=False),
        sa.Column("registered_by", sa.Text(), nullable=False),
        sa.Column("deleted_at", Moment),
        sa.Column("removed_at", Moment),
        sa.PrimaryKeyConstraint("context", "subject", "version", name="pk_subject_versions"),
    )
    op.create_index("ix_subject_versions_schema", "subject_versions", ["context", "schema"])
    op.create_table(
        "schema_references",
        sa.Column("context", Name, nullable=False),
        sa.Column("schema", Number, nullable=False),
        sa.Column("subject", Name, nullable=False),
        sa.Column("version", Number, nullable=False),
        sa.PrimaryKeyConstraint("context", "schema", "subject", "version", name="pk_schema_references"),
    )
    op.create_index("ix_schema_references_subject", "schema_references", ["context", "subject", "version"])
    op.create_table(
        "schema_usage",
        sa.Column("context", Name, nullable=False),
        sa.Column("schema", Number, nullable=False),
        sa.Column("subject", Name, nullable=False),
        sa.Column("client", Name, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("reads", sa.BigInteger(), nullable=False),
        sa.Column("registrations", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("context", "schema", "subject", "client", "day", name="pk_schema_usage"),
    )
