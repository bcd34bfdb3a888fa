"""Where the types of data come from."""

from __future__ import annotations

from enum import StrEnum


class Typing(StrEnum):
    """How much a type in the data says."""

    STORED = "stored"
    """The store has a schema: its types were chosen."""
    SEEN = "seen"
    """The types were worked out from the values, as for JSON."""
    NONE = "none"
    """Every value is a text, as in CSV."""
