"""The SQL store: tables, schema migrations, the writer, and queries by noun. Nothing else imports SQLAlchemy."""

from sqlalchemy import Connection

__all__ = ["Connection"]
