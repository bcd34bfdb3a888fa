"""Column types that mean the same on every database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Integer, Text
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Number = BigInteger().with_variant(Integer, "sqlite")
"""A number that counts rows; on SQLite the row's own, which costs no index."""

Name = Text().with_variant(Text(collation="C"), "postgresql")
"""A name, in the order of its characters whatever the locale of the server."""


class Moment(TypeDecorator[datetime]):
    """A time, stored as microseconds since 1970 in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        """Write a moment; one without a time zone is a mistake of ours."""
        if value is None:
            return None
        since = value - _EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        """Read a moment."""
        return (
            None
            if value is None
            else datetime.fromtimestamp(value // 1_000_000, UTC).replace(microsecond=value % 1_000_000)
        )
