"""The shapes that answers share."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from treaty.errors import InvalidDocument

T = TypeVar("T")


class Answer(BaseModel):
    """An answer never changes once it is given."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(Answer, Generic[T]):
    """A part of a list; `next` is where the following part begins, or null at the end."""

    items: list[T]
    next: str | None = Field(default=None, examples=["WzUwXQ"])


Key = str | int


class BadCursor(InvalidDocument):
    """A place to begin at that no page gave out."""

    def __init__(self) -> None:
        super().__init__("the cursor is not valid; take it from 'next' of a page")


PAGE = 100
MAX_PAGE_SIZE = 1_000


def page_of(rows: Sequence[T], limit: int, key: Callable[[T], Sequence[Key]]) -> Page[T]:
    """Return a page; the caller fetches one row more than the limit, to detect whether there is a next page."""
    items = list(rows[:limit])
    return Page(items=items, next=cursor(key(items[-1])) if len(rows) > limit else None)


def check_limit(limit: int) -> int:
    """Return the limit, or refuse one that is out of range."""
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise InvalidDocument(f"limit must be 1 to {MAX_PAGE_SIZE:,}, not {limit}")
    return limit


def cursor(key: Sequence[Key]) -> str:
    """Encode the key after which the next page begins."""
    return base64.urlsafe_b64encode(json.dumps(list(key)).encode()).decode().rstrip("=")


def after(text: str | None, *start: Key) -> tuple[Key, ...]:
    """Decode a cursor; without one, return the start, whose types a cursor must have."""
    if text is None:
        return start
    try:
        padded = text + "=" * (-len(text) % 4)
        key = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or [type(part) for part in key] != [type(part) for part in start]:
        raise BadCursor
    if not all(map(_is_storable, key)):
        raise BadCursor
    return tuple(key)


def _is_storable(part: Key) -> bool:
    """Return whether the database can store this: no large number, NUL or unpaired surrogate."""
    if isinstance(part, int):
        return abs(part) < 2**63
    return not any(sign == "\x00" or "\ud800" <= sign <= "\udfff" for sign in part)
