"""The metadata that all tables share, partial indexes, and keys in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import Index, MetaData, text

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


T = TypeVar("T")
MAX_KEYS_PER_QUERY = 200
"""Keys in one IN list, below the limit of every database."""


def in_batches(keys: Sequence[T], size: int = MAX_KEYS_PER_QUERY) -> Iterator[Sequence[T]]:
    """Split keys into parts that fit into one query."""
    return (keys[start : start + size] for start in range(0, len(keys), size))


def partial_index(name: str, condition: str, *columns: str) -> Index:
    """Return an index over the rows that a question is about, so that the others cost nothing."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))
