"""The columns whose texts a scanned reader takes apart."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Add the columns; none for what was scanned before."""
    op.add_column("scanned_reads", sa.Column("parsed", sa.JSON(), nullable=False, server_default="[]"))
