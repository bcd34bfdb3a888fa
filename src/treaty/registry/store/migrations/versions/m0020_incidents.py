"""Incidents of broken promises, and the health of each line."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name, Number

revision = "0020"
down_revision = "0019"

_CURRENT_FOR = 2 * 86_400 * 1_000_000  # microseconds, as moments are stored


def upgrade() -> None:
    """Add the tables; the health of lines begins with what their newest measures say."""
    op.create_table(
        "incidents",
        sa.Column("id", Number, autoincrement=False, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("measure", Name, nullable=False),
        sa.Column("severity", sa.String(8), nullable=False),
        sa.Column("opened_at", Moment(), nullable=False),
        sa.Column("first_seen", Moment(), nullable=False),
        sa.Column("owners", sa.JSON(), nullable=False),
        sa.Column("escalated_at", Moment(), nullable=True),
        sa.Column("acknowledged_at", Moment(), nullable=True),
        sa.Column("acknowledged_by", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("closed_at", Moment(), nullable=True),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.Column("root", sa.BigInteger(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("last_seen", Moment(), nullable=False),
        sa.Column("blocked", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_incidents"),
    )
    op.create_index("ix_incidents_line", "incidents", ["contract", "major"])
    op.create_index(
        "ix_incidents_open",
        "incidents",
        ["contract", "major"],
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    op.create_table(
        "line_health",
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("blocked_by", sa.Text(), nullable=True),
        sa.Column("incident", sa.BigInteger(), nullable=True),
        sa.Column("since", Moment(), nullable=True),
        sa.Column("valid_until", Moment(), nullable=True),
        sa.Column("silent_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("contract", "major", name="pk_line_health"),
    )
    op.create_index("ix_line_health_rank", "line_health", ["contract", "rank"])
    op.create_index(
        "ix_line_health_silent_at",
        "line_health",
        ["silent_at"],
        sqlite_where=sa.text("silent_at IS NOT NULL"),
        postgresql_where=sa.text("silent_at IS NOT NULL"),
    )
    op.execute(
        "INSERT INTO line_health (contract, major, rank, cause, since, valid_until) "  # noqa: S608 - no input
        "SELECT contract, major, MAX(CASE rank WHEN 3 THEN 4 ELSE rank END), '', MAX(at), "
        f"MAX(at) + {_CURRENT_FOR} FROM current_measures GROUP BY contract, major"
    )
