"""The run on which a finding of a parallel run was decided."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Add the day of the run; null for what was decided before."""
    op.add_column("finding_dispositions", sa.Column("decided_for", sa.Date()))
