"""Column types that mean the same on every database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from sqlalchemy import BigInteger, Integer, Text
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Number = BigInteger().with_variant(Integer, "sqlite")
"""A number that counts rows; on SQLite the row's own, which costs no index."""

Name = Text().with_variant(Text(collation="C"), "postgresql")
"""A name, in the order of its characters whatever the locale of the server."""


class Moment(TypeDecorator[datetime]):
    """A moment, kept as microseconds since 1970 in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        """Write a moment; one without a time zone is a mistake of ours."""
        return None if value is None else in_microseconds(value)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        """Read a moment."""
        return (
            None
            if value is None
            else datetime.fromtimestamp(value // 1_000_000, UTC).replace(microsecond=value % 1_000_000)
        )


def in_microseconds(moment: datetime) -> int:
    """Return the microseconds since 1970."""
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def json_text(value: Any) -> str:
    """Write what a JSON column keeps, at a quarter of what Python's own writer takes."""
    try:
        return to_json(value).decode()
    except PydanticSerializationError:  # half a character, which Python's own writer escapes
        return json.dumps(value)
