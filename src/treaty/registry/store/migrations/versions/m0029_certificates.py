"""Certificates of publishers."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "certificates",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("publisher", Name, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("signature", sa.String(64)),
        sa.Column("issued_at", Moment(), nullable=False),
        sa.Column("issued_by", sa.Text(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=False),
        sa.Column("revoked_at", Moment()),
        sa.Column("revoked_by", sa.Text()),
        sa.Column("revoked_reason", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_certificates"),
    )
    op.create_index("ix_certificates_contract", "certificates", ["contract", "major", "issued_at"])
