"""Old notices may be deleted once they are delivered; the newest notice and waiting deliveries are kept."""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Replace the trigger that keeps all notices; the newest one numbers the next."""
    if op.get_bind().dialect.name == "postgresql":
        _guards_on_postgresql()
    else:
        _guards_on_sqlite()


def _guards_on_sqlite() -> None:
    op.execute("DROP TRIGGER IF EXISTS notices_are_kept")
    op.execute(
        "CREATE TRIGGER notices_are_kept BEFORE DELETE ON notices WHEN OLD.seq = (SELECT max(seq) FROM notices) "
        "BEGIN SELECT RAISE(ABORT, 'notices_are_kept: history does not change'); END"
    )
    op.execute(
        "CREATE TRIGGER deliveries_are_made BEFORE DELETE ON deliveries WHEN OLD.state = 'pending' "
        "BEGIN SELECT RAISE(ABORT, 'deliveries_are_made: history does not change'); END"
    )


def _guards_on_postgresql() -> None:
    op.execute("DROP TRIGGER IF EXISTS notices_are_kept ON notices")
    op.execute(
        "CREATE FUNCTION treaty_keep_newest_notice() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF OLD.seq = (SELECT max(seq) FROM notices) THEN "
        "RAISE EXCEPTION '%: history does not change', TG_NAME; END IF; RETURN OLD; END $$"
    )
    op.execute(
        "CREATE TRIGGER notices_are_kept BEFORE DELETE ON notices "
        "FOR EACH ROW EXECUTE FUNCTION treaty_keep_newest_notice()"
    )
    op.execute(
        "CREATE TRIGGER deliveries_are_made BEFORE DELETE ON deliveries "
        "FOR EACH ROW WHEN (OLD.state = 'pending') EXECUTE FUNCTION treaty_keep_history()"
    )
