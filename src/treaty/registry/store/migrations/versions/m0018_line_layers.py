"""The layer of a line in the pipeline that publishes it, as runs record it."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Name

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "line_layers",
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "major", name="pk_line_layers"),
    )
