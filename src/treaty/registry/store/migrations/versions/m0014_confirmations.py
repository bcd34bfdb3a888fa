"""Subscriptions that the team of the consumer has not confirmed, and the day until which it can."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the columns. Null means confirmed: until now only the team of a consumer could subscribe it."""
    op.add_column("subscriptions", sa.Column("unconfirmed_since", Moment(), nullable=True))
    op.add_column("subscriptions", sa.Column("confirm_by", sa.Date(), nullable=True))
