"""Splits names of any case style or script into words."""

from __future__ import annotations

import re
from functools import lru_cache

CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_TOKEN = re.compile(r"[^\W_]+")


@lru_cache(20_000)
def split_words(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words."""
    words: list[str] = []
    for token in _TOKEN.findall(name):
        words += CAMEL.findall(token) if token.isascii() else [token]
    return tuple(word.lower() for word in words)
