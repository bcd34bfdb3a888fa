"""Measures of contracts over time, and the newest of each kind."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables of measures."""
    op.create_table(
        "measures",
        sa.Column("contract", Name, nullable=False),
        sa.Column("name", Name, nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("promise", sa.Double(), nullable=True),
        sa.Column("state", sa.String(length=8), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("recorded_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "name", "at", name=op.f("pk_measures")),
    )
    op.create_table(
        "current_measures",
        sa.Column("contract", Name, nullable=False),
        sa.Column("name", Name, nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("promise", sa.Double(), nullable=True),
        sa.Column("state", sa.String(length=8), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "name", name=op.f("pk_current_measures")),
    )
    op.create_index("ix_current_measures_name", "current_measures", ["name", "contract"], unique=False)
    op.create_index("ix_current_measures_rank", "current_measures", ["contract", "rank"], unique=False)
