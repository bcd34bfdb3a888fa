"""Bring a database up to date: the tables that this version of Treaty reads and writes."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

from treaty.errors import Unavailable

HEAD = "0004"
"""The newest migration; a test holds it to the files."""

_LOCK = 7_237_842_390


def migrate(connection: Connection) -> None:
    """Run the migrations that the database has not seen; one process at a time does so."""
    if _current(connection) == HEAD:
        return
    connection.rollback()
    connection = connection.execution_options(writes=True)
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if _current(connection) == HEAD:
            return
        _upgrade(connection)


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _upgrade(connection: Connection) -> None:
    from alembic import command  # loaded only where there is something to do
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "treaty.registry.store:migrations")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise Unavailable("the database was made by a later version of Treaty; install that version") from None
