"""The issues that a version was registered with, so that registering it again gives the same answer."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_REGISTERED = (
    "seq, contract, version, major, minor, patch, form, media, document, parsed, digest, mode, owners, "
    "registered_at, registered_by, issues, expires_on"
)
_REFUSAL = {
    "sqlite": "BEGIN SELECT RAISE(ABORT, 'versions_do_not_change: history does not change'); END",
    "postgresql": "FOR EACH ROW EXECUTE FUNCTION treaty_keep_history()",
}


def upgrade() -> None:
    """Add the column of issues, and protect it like the rest of a version."""
    dialect = op.get_bind().dialect.name
    op.add_column("versions", sa.Column("issues", sa.JSON(), nullable=True))
    op.execute("DROP TRIGGER IF EXISTS versions_do_not_change" + (" ON versions" if dialect == "postgresql" else ""))
    op.execute(f"CREATE TRIGGER versions_do_not_change BEFORE UPDATE OF {_REGISTERED} ON versions {_REFUSAL[dialect]}")
