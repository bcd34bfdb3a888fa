"""Digests of rows in the audit log; PostgreSQL refuses to truncate history."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_HISTORY = ("versions", "audit", "notices")


def upgrade() -> None:
    """Add the column of row digests, and the triggers against TRUNCATE, which SQLite does not have."""
    op.add_column("audit", sa.Column("row_digests", sa.JSON(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        for table in _HISTORY:
            op.execute(
                f"CREATE TRIGGER {table}_are_not_truncated BEFORE TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION treaty_keep_history()"
            )
