"""What scans found, and what people said of consumers."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "scanned_reads",
        sa.Column("scan", Name, nullable=False),
        sa.Column("consumer", Name, nullable=False),
        sa.Column("source", Name, nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("consumer_class", sa.String(32), nullable=False),
        sa.Column("confidence", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("team", sa.Text()),
        sa.Column("latency", sa.Text()),
        sa.Column("decision", sa.Text()),
        sa.Column("places", sa.JSON(), nullable=False),
        sa.Column("scanned_at", Moment(), nullable=False),
        sa.Column("scanned_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("scan", "consumer", "source", name="pk_scanned_reads"),
    )
    op.create_index("ix_scanned_reads_consumer", "scanned_reads", ["consumer"])
    op.create_table(
        "consumer_profiles",
        sa.Column("consumer", Name, nullable=False),
        sa.Column("consumer_class", sa.String(32)),
        sa.Column("latency", sa.Text()),
        sa.Column("decision", sa.Text()),
        sa.Column("team", sa.Text()),
        sa.Column("changed_at", Moment(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("consumer", name="pk_consumer_profiles"),
    )
