"""Sessions of browsers, and when tokens were last used."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the table of sessions, and add the time of last use to tokens."""
    op.add_column("tokens", sa.Column("last_used_at", Moment(), nullable=True))
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("via", sa.String(length=16), nullable=False),
        sa.Column("token", sa.String(length=32), nullable=True),
        sa.Column("grants", sa.JSON(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("login", sa.String(length=64), nullable=True),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=False),
        sa.Column("seen_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_sessions")),
        sa.UniqueConstraint("login", name=op.f("uq_sessions_login")),
    )
    op.create_index(op.f("ix_sessions_token"), "sessions", ["token"], unique=False)
