"""Which field is computed from which, as contracts declare it and as runs observed it; consumers behind other lines."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the columns. They are nullable, so that the digests of existing rows stay the same."""
    op.add_column("upstreams", sa.Column("mappings", sa.JSON(), nullable=True))
    op.add_column("upstreams", sa.Column("observed", sa.JSON(), nullable=True))
    op.add_column("migration_consumers", sa.Column("via", sa.Text(), nullable=True))
