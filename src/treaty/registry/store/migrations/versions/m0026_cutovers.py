"""Legacy feeds, who reads them, and the steps by which their consumers leave them."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name, Number

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "legacy_feeds",
        sa.Column("feed", Name, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("names", sa.JSON(), nullable=False),
        sa.Column("consumers", sa.JSON(), nullable=False),
        sa.Column("gate", sa.JSON(), nullable=False),
        sa.Column("produced", sa.Text()),
        sa.Column("declared_at", Moment(), nullable=False),
        sa.Column("declared_by", sa.Text(), nullable=False),
        sa.Column("retired_at", Moment()),
        sa.Column("retired_by", sa.Text()),
        sa.PrimaryKeyConstraint("feed", name="pk_legacy_feeds"),
    )
    op.create_table(
        "cutover_steps",
        sa.Column("seq", Number, nullable=False),
        sa.Column("feed", Name, nullable=False),
        sa.Column("consumer", Name, nullable=False),
        sa.Column("step", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("taken_at", Moment(), nullable=False),
        sa.Column("taken_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_cutover_steps"),
    )
    op.create_index("ix_cutover_steps_feed", "cutover_steps", ["feed", "consumer"])
    op.create_table(
        "legacy_reads",
        sa.Column("feed", Name, nullable=False),
        sa.Column("consumer", Name, nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("team", sa.Text()),
        sa.Column("first_seen", Moment(), nullable=False),
        sa.Column("last_seen", Moment(), nullable=False),
        sa.Column("reported_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("feed", "consumer", name="pk_legacy_reads"),
    )
