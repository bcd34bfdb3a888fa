"""Trouble with the database in words: never with a statement, its values or a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, SQLAlchemyError

from treaty.errors import InvalidDocument, TreatyError, Unavailable

TROUBLE = (SQLAlchemyError, OverflowError, UnicodeEncodeError)
"""What a database, or the driver before it, raises."""


@contextmanager
def reachable(name: str) -> Iterator[None]:
    """Turn trouble with the database into one clear error."""
    try:
        yield
    except TROUBLE as error:
        raise in_words(name, error) from None


def in_words(name: str, error: Exception) -> TreatyError:
    """Say that a value is none that can be kept, or that the database cannot be used, and why."""
    if isinstance(error, (DataError, OverflowError, UnicodeEncodeError)):
        return InvalidDocument("a text holds a character, or a number is a size, that no database keeps")
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()
    return Unavailable(f"the database {name} cannot be used now: {reason[0] if reason else 'no reason given'}")
