"""Measures of each line: two lines of a contract are measured apart."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_KEYS = {"measures": ["contract", "major", "name", "at"], "current_measures": ["contract", "major", "name"]}


def upgrade() -> None:
    """Add the line to the keys; earlier measures are of the highest line."""
    for table, key in _KEYS.items():
        op.add_column(table, sa.Column("major", sa.BigInteger(), nullable=False, server_default="0"))
        highest = f"SELECT MAX(versions.major) FROM versions WHERE versions.contract = {table}.contract"  # noqa: S608
        op.execute(f"UPDATE {table} SET major = COALESCE(({highest}), 0)")  # noqa: S608
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(f"pk_{table}", type_="primary")
            batch.create_primary_key(f"pk_{table}", key)
            batch.alter_column("major", existing_type=sa.BigInteger(), server_default=None)
