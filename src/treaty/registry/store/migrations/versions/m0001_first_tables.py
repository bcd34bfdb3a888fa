"""The first tables."""

import sqlalchemy as sa
from alembic import op

from treaty.registry.store.types import Moment, Name, Number

revision = "0001"
down_revision = None

_REGISTERED = (
    "seq, contract, version, major, minor, patch, form, media, document, parsed, digest, mode, owners, "
    "registered_at, registered_by, expires_on"
)
"""The columns of a version that never change."""


def upgrade() -> None:
    """Make the tables, and the triggers that keep history as it was."""
    _tables()
    if op.get_bind().dialect.name == "postgresql":
        _guards_on_postgresql()
    else:
        _guards_on_sqlite()


def _guards_on_sqlite() -> None:
    for name, occasion in _guards():
        refusal = f"SELECT RAISE(ABORT, '{name}: history does not change')"
        op.execute(f"CREATE TRIGGER {name} BEFORE {occasion} BEGIN {refusal}; END")


def _guards_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION treaty_keep_history() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '%: history does not change', TG_NAME; END $$"
    )
    for name, occasion in _guards():
        op.execute(f"CREATE TRIGGER {name} BEFORE {occasion} FOR EACH ROW EXECUTE FUNCTION treaty_keep_history()")


def _guards() -> tuple[tuple[str, str], ...]:
    return (
        ("versions_are_kept", "DELETE ON versions"),
        ("versions_do_not_change", f"UPDATE OF {_REGISTERED} ON versions"),
        ("audit_is_kept", "DELETE ON audit"),
        ("audit_does_not_change", "UPDATE ON audit"),
        ("notices_are_kept", "DELETE ON notices"),
    )


def _tables() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", Number, autoincrement=False, nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", Name, nullable=False),
        sa.Column("before", sa.String(length=64), nullable=True),
        sa.Column("after", sa.String(length=64), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit")),
    )
    op.create_table(
        "channels",
        sa.Column("id", Number, autoincrement=False, nullable=False),
        sa.Column("party", Name, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("added_at", Moment(), nullable=False),
        sa.Column("added_by", sa.Text(), nullable=False),
        sa.Column("removed_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channels")),
    )
    op.create_index(op.f("ix_channels_party"), "channels", ["party"], unique=False)
    op.create_table(
        "contracts",
        sa.Column("id", Name, nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("updated_at", Moment(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("domain", sa.Text(), nullable=True),
        sa.Column("tier", sa.Text(), nullable=True),
        sa.Column("parent", Name, nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("searched_names", sa.Text(), nullable=False),
        sa.Column("searched_domain", sa.Text(), nullable=False),
        sa.Column("searched_owners", sa.Text(), nullable=False),
        sa.Column("searched_fields", sa.Text(), nullable=False),
        sa.Column("searched_tags", sa.Text(), nullable=False),
        sa.Column("searched_meanings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contracts")),
    )
    op.create_index(
        "ix_contracts_parent",
        "contracts",
        ["parent"],
        unique=False,
        sqlite_where=sa.text("parent IS NOT NULL"),
        postgresql_where=sa.text("parent IS NOT NULL"),
    )
    op.create_table(
        "notices",
        sa.Column("seq", Number, autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("headline", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("parties", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_notices")),
    )
    op.create_table(
        "proposals",
        sa.Column("id", Number, autoincrement=False, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("media", sa.Text(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("proposed_at", Moment(), nullable=False),
        sa.Column("proposed_by", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("decided_at", Moment(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proposals")),
    )
    op.create_index("ix_proposals_state", "proposals", ["state", "contract"], unique=False)
    op.create_table(
        "subscriptions",
        sa.Column("consumer", Name, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("consumer_class", sa.Text(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=True),
        sa.Column("latency", sa.Text(), nullable=True),
        sa.Column("contact", sa.Text(), nullable=True),
        sa.Column("team", sa.Text(), nullable=True),
        sa.Column("since", Moment(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("consumer", "contract", "major", name=op.f("pk_subscriptions")),
    )
    op.create_index("ix_subscriptions_line", "subscriptions", ["contract", "major"], unique=False)
    op.create_index(op.f("ix_subscriptions_revision"), "subscriptions", ["revision"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("team", sa.Text(), nullable=True),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=False),
        sa.Column("revoked_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    op.create_table(
        "upstreams",
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("upstream", Name, nullable=False),
        sa.Column("upstream_major", sa.BigInteger(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("contract", "major", "upstream", "upstream_major", name=op.f("pk_upstreams")),
    )
    op.create_index(op.f("ix_upstreams_revision"), "upstreams", ["revision"], unique=False)
    op.create_table(
        "waivers",
        sa.Column("id", Number, autoincrement=False, nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("until", sa.Date(), nullable=False),
        sa.Column("granted_at", Moment(), nullable=False),
        sa.Column("granted_by", sa.Text(), nullable=False),
        sa.Column("revoked_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waivers")),
    )
    op.create_table(
        "deliveries",
        sa.Column("notice", sa.BigInteger(), nullable=False),
        sa.Column("channel", sa.BigInteger(), nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", Moment(), nullable=True),
        sa.Column("leased_until", Moment(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("delivered_at", Moment(), nullable=True),
        sa.ForeignKeyConstraint(["channel"], ["channels.id"], name=op.f("fk_deliveries_channel")),
        sa.ForeignKeyConstraint(["notice"], ["notices.seq"], name=op.f("fk_deliveries_notice")),
        sa.PrimaryKeyConstraint("notice", "channel", name=op.f("pk_deliveries")),
    )
    op.create_index("ix_deliveries_state", "deliveries", ["state", "next_at"], unique=False)
    op.create_index(
        "ix_deliveries_waiting",
        "deliveries",
        ["channel", "contract", "notice"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_table(
        "versions",
        sa.Column("seq", Number, autoincrement=False, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("minor", sa.BigInteger(), nullable=False),
        sa.Column("patch", sa.BigInteger(), nullable=False),
        sa.Column("form", sa.String(length=8), nullable=False),
        sa.Column("media", sa.Text(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("parsed", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("owners", sa.JSON(), nullable=False),
        sa.Column("registered_at", Moment(), nullable=False),
        sa.Column("registered_by", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("deprecation_uri", sa.Text(), nullable=True),
        sa.Column("announced_on", sa.Date(), nullable=True),
        sa.Column("sunset_on", sa.Date(), nullable=True),
        sa.Column("retire_on", sa.Date(), nullable=True),
        sa.Column("expires_on", sa.Date(), nullable=True),
        sa.ForeignKeyConstraint(["contract"], ["contracts.id"], name=op.f("fk_versions_contract")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_versions")),
        sa.UniqueConstraint("contract", "major", "minor", "patch", name=op.f("uq_versions_contract_major_minor_patch")),
    )
    op.create_index(
        "ix_versions_dated",
        "versions",
        ["seq"],
        unique=False,
        sqlite_where=sa.text("announced_on IS NOT NULL OR expires_on IS NOT NULL"),
        postgresql_where=sa.text("announced_on IS NOT NULL OR expires_on IS NOT NULL"),
    )
