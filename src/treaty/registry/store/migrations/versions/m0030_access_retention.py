"""Old accesses may be deleted; those of the 30 days up to the newest one are kept."""

from alembic import op

revision = "0030"
down_revision = "0029"

_KEPT = 30 * 86_400 * 1_000_000
_SINCE = f"(SELECT at FROM data_accesses ORDER BY seq DESC LIMIT 1) - {_KEPT}"  # noqa: S608


def upgrade() -> None:
    """Replace the trigger that keeps all accesses."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER IF EXISTS data_accesses_are_kept ON data_accesses")
        op.execute(
            "CREATE FUNCTION treaty_keep_newer_accesses() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN IF OLD.at >= {_SINCE} THEN "
            "RAISE EXCEPTION '%: history does not change', TG_NAME; END IF; RETURN OLD; END $$"
        )
        op.execute(
            "CREATE TRIGGER data_accesses_are_kept BEFORE DELETE ON data_accesses "
            "FOR EACH ROW EXECUTE FUNCTION treaty_keep_newer_accesses()"
        )
    else:
        op.execute("DROP TRIGGER IF EXISTS data_accesses_are_kept")
        op.execute(
            f"CREATE TRIGGER data_accesses_are_kept BEFORE DELETE ON data_accesses WHEN OLD.at >= {_SINCE} "
            "BEGIN SELECT RAISE(ABORT, 'the log of accesses is append-only'); END"
        )
