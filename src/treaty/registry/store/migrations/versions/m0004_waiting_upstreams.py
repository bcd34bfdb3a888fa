"""Find those who named a contract before it was registered without a look at everybody else."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the index of upstreams that are not registered yet."""
    waiting = sa.text("upstream_major = -1 AND active")
    op.create_index("ix_upstreams_waiting", "upstreams", ["upstream"], sqlite_where=waiting, postgresql_where=waiting)
