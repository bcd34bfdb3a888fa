"""Parallel runs of legacy feeds, and what was decided about their findings."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "parallel_runs",
        sa.Column("feed", Name, nullable=False),
        sa.Column("as_of", sa.Date(), nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("legacy_rows", sa.BigInteger(), nullable=False),
        sa.Column("new_rows", sa.BigInteger(), nullable=False),
        sa.Column("fingerprints", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("recorded_at", Moment(), nullable=False),
        sa.Column("recorded_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("feed", "as_of", name="pk_parallel_runs"),
    )
    op.create_table(
        "finding_dispositions",
        sa.Column("feed", Name, nullable=False),
        sa.Column("fingerprint", sa.String(16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("disposition", sa.String(32), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("term", sa.Text()),
        sa.Column("decided_at", Moment(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("feed", "fingerprint", name="pk_finding_dispositions"),
    )
