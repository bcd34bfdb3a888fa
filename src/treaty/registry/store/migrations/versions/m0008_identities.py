"""Identities of proposers and of the holders of tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns; what was proposed and created before has no identity."""
    op.add_column("proposals", sa.Column("proposer_identity", sa.Text(), nullable=True))
    op.add_column("tokens", sa.Column("holder", sa.Text(), nullable=True))
