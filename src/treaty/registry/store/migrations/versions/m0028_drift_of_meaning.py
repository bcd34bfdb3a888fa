"""Profiles of events, drift findings, and what was answered to them."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "event_profiles",
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("hour", Moment(), nullable=False),
        sa.Column("run", sa.BigInteger(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("covers_day", sa.Boolean(), nullable=False),
        sa.Column("profile", sa.JSON(), nullable=False),
        sa.Column("drifted", sa.JSON(), nullable=False),
        sa.Column("recorded_at", Moment(), nullable=False),
        sa.Column("recorded_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "major", "version", "hour", name="pk_event_profiles"),
    )
    op.create_table(
        "drift_findings",
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.String(16), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("first_seen", Moment(), nullable=False),
        sa.Column("last_seen", Moment(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.BigInteger(), nullable=False),
        sa.Column("is_present", sa.Boolean(), nullable=False),
        sa.Column("finding", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "major", "fingerprint", name="pk_drift_findings"),
    )
    op.create_table(
        "drift_decisions",
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.String(16), nullable=False),
        sa.Column("answer", sa.String(32), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("until", sa.Date()),
        sa.Column("draft", sa.String(64)),
        sa.Column("answered_at", Moment(), nullable=False),
        sa.Column("answered_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "major", "fingerprint", name="pk_drift_decisions"),
    )
