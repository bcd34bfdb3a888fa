"""Migrations of consumers from one line to the next."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name, Number

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables of migrations."""
    op.create_table(
        "migrations",
        sa.Column("id", Number, autoincrement=False, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("to_major", sa.BigInteger(), nullable=False),
        sa.Column("to_version", sa.Text(), nullable=False),
        sa.Column("guide", sa.Text(), nullable=True),
        sa.Column("window", sa.Text(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("proposal", sa.BigInteger(), nullable=True),
        sa.Column("opened_at", Moment(), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=True),
        sa.Column("remind_on", sa.Date(), nullable=True),
        sa.Column("closed_at", Moment(), nullable=True),
        sa.Column("proof", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_migrations")),
    )
    op.create_index("ix_migrations_line", "migrations", ["contract", "major"], unique=False)
    op.create_index(
        "ix_migrations_remind_on",
        "migrations",
        ["remind_on"],
        unique=False,
        sqlite_where=sa.text("remind_on IS NOT NULL"),
        postgresql_where=sa.text("remind_on IS NOT NULL"),
    )
    op.create_table(
        "migration_consumers",
        sa.Column("migration", sa.BigInteger(), nullable=False),
        sa.Column("consumer", Name, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("effect", sa.String(length=16), nullable=False),
        sa.Column("consumer_class", sa.Text(), nullable=False),
        sa.Column("team", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("until", sa.Date(), nullable=True),
        sa.Column("changed_at", Moment(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["migration"], ["migrations.id"], name=op.f("fk_migration_consumers_migration")),
        sa.PrimaryKeyConstraint("migration", "consumer", name=op.f("pk_migration_consumers")),
    )
