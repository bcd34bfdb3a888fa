"""A second signing secret of a channel, valid until a date, so that receivers can change to the new one."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the columns. They are nullable, so that the digests of existing rows stay the same.

    Secrets that are not encrypted yet are encrypted when a registry with a key opens the database.
    """
    op.add_column("channels", sa.Column("previous_secret", sa.Text(), nullable=True))
    op.add_column("channels", sa.Column("previous_until", Moment(), nullable=True))
