"""Private contracts: who may read a contract that is not open to everyone."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the readers of contracts, and an index of the contracts that name any."""
    op.add_column("contracts", sa.Column("readers", sa.JSON(), nullable=True))
    private = sa.text("readers IS NOT NULL")
    op.create_index("ix_contracts_private", "contracts", ["id"], sqlite_where=private, postgresql_where=private)
