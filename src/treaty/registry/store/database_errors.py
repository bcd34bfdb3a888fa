"""Database errors as errors of Treaty, without statements, values or passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, SQLAlchemyError

from treaty.errors import InvalidDocument, TreatyError, Unavailable

DATABASE_ERRORS = (SQLAlchemyError, OverflowError, UnicodeEncodeError)
"""Exceptions of SQLAlchemy and the drivers."""


@contextmanager
def reachable(name: str) -> Iterator[None]:
    """Translate database errors raised in the context."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise describe_error(name, error) from None


def describe_error(name: str, error: Exception) -> TreatyError:
    """Return InvalidDocument for a value that cannot be stored, otherwise Unavailable with the reason."""
    if isinstance(error, (DataError, OverflowError, UnicodeEncodeError)):
        return InvalidDocument("a text has a character, or a number a size, that the database cannot store")
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()
    return Unavailable(f"the database {name} cannot be used now: {reason[0] if reason else 'no reason given'}")
