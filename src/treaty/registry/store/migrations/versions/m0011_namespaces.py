"""Owners of namespaces, and the skeletons that look-alike ids share."""

import sqlalchemy as sa
from alembic import op

from treaty.contracts.lookalikes import skeleton
from treaty.registry.store.types import Moment, Name

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table of namespaces, and fill the skeletons of existing contracts."""
    op.create_table(
        "namespaces",
        sa.Column("prefix", Name, nullable=False),
        sa.Column("skeleton", Name, nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("assigned_at", Moment(), nullable=False),
        sa.Column("assigned_by", sa.Text(), nullable=False),
        sa.Column("released_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("prefix", name=op.f("pk_namespaces")),
    )
    op.create_index("ix_namespaces_skeleton", "namespaces", ["skeleton"])
    op.add_column("contracts", sa.Column("skeleton", Name, nullable=True))
    op.create_index("ix_contracts_skeleton", "contracts", ["skeleton"])
    contracts = sa.table("contracts", sa.column("id", Name), sa.column("skeleton", Name))
    connection = op.get_bind()
    for (name,) in connection.execute(sa.select(contracts.c.id)).all():
        connection.execute(sa.update(contracts).where(contracts.c.id == name).values(skeleton=skeleton(name)))
