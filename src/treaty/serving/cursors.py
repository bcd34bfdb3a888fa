"""Cursors: where a page ended, encrypted, so that clients can neither read nor change them.

A cursor names a snapshot, a place in it and the query it belongs to, and has no value of a row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from treaty.errors import TreatyError
from treaty.registry.model.page import BadCursor
from treaty.registry.notices.secret_box import SecretBox, is_encrypted
from treaty.serving.row_groups import Place

MAX_AGE = timedelta(days=1)
_PURPOSE = "treaty data cursor 1 "


@dataclass(frozen=True)
class Cursor:
    """The place after the last row of a page."""

    snapshot: int
    file: int
    group: int
    offset: int
    """Rows of the row group that were sent already."""
    query: str
    """A digest of the consumer, the fields and the filters."""
    seed: int
    """The order of the rows in each row group, if the order of the table would tell masked keys."""
    started: str
    """The time of the first page; all pages of a query show the rows of that time."""

    @property
    def place(self) -> Place:
        """The row group in which the next page begins."""
        return Place(self.file, self.group)

    @property
    def started_at(self) -> datetime:
        """The time of the first page."""
        return datetime.fromisoformat(self.started)


class CursorCodec:
    """Encrypts and decrypts cursors with the keys of the registry."""

    def __init__(self, box: SecretBox) -> None:
        self._box = box

    def encode(self, cursor: Cursor) -> str:
        """Return a cursor as a text."""
        return self._box.encrypt(_PURPOSE + json.dumps(asdict(cursor), separators=(",", ":")))

    def decode(self, text: str, query: str, now: datetime) -> Cursor:
        """Return the cursor of a query; raise BadCursor for any other text, and for one that is too old."""
        if not is_encrypted(text):
            raise BadCursor
        try:
            plain = self._box.decrypt(text)
            cursor = Cursor(**json.loads(plain.removeprefix(_PURPOSE)))
        except (TreatyError, ValueError, TypeError):
            raise BadCursor from None
        is_own = plain.startswith(_PURPOSE) and cursor.query == query
        if not is_own or now - cursor.started_at > MAX_AGE:
            raise BadCursor
        return cursor


def query_digest(parts: Sequence[object]) -> str:
    """Return the digest of everything that decides which rows a query has, and in which order."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
