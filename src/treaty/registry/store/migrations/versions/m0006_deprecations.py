"""What replaces a deprecated version and why it ends; when the end of a waiver was announced."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns. They are nullable, so that the digests of existing rows stay the same."""
    op.add_column("versions", sa.Column("replacement", sa.Text(), nullable=True))
    op.add_column("versions", sa.Column("deprecation_reason", sa.Text(), nullable=True))
    op.add_column("waivers", sa.Column("ended_at", Moment(), nullable=True))
