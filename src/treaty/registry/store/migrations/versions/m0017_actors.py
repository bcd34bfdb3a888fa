"""Names of actors in a table of their own, so that they can be erased; the audit log refers to them by id."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the table, and the column for earlier hashes. The rows are converted after the last migration."""
    op.create_table(
        "actors",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("salt", sa.String(32), nullable=True),
        sa.Column("erased_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_actors"),
        sa.UniqueConstraint("name", name="uq_actors_name"),
    )
    op.add_column("audit", sa.Column("converted_from", sa.String(64), nullable=True))
