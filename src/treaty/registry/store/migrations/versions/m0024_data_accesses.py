"""The log of accesses to published rows. Its rows are neither changed nor deleted."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name, Number

revision = "0024"
down_revision = "0023"

_GUARDS = (("data_accesses_stay", "UPDATE"), ("data_accesses_are_kept", "DELETE"))


def upgrade() -> None:
    """Add the table and its guards."""
    op.create_table(
        "data_accesses",
        sa.Column("seq", Number, primary_key=True),
        sa.Column("at", Moment, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("consumer", Name),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text()),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("filters", sa.JSON(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("purpose", sa.Text()),
        sa.Column("run", sa.BigInteger()),
        sa.Column("decision", sa.String(24), nullable=False),
    )
    op.create_index("ix_data_accesses_contract", "data_accesses", ["contract", "seq"])
    op.create_index("ix_data_accesses_consumer", "data_accesses", ["consumer", "seq"])
    for name, occasion in _GUARDS:
        if op.get_bind().dialect.name == "postgresql":
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {occasion} ON data_accesses "
                "FOR EACH ROW EXECUTE FUNCTION treaty_keep_history()"
            )
        else:
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {occasion} ON data_accesses "
                "BEGIN SELECT RAISE(ABORT, 'the log of accesses is append-only'); END"
            )
