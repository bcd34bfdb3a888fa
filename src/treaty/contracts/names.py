"""Names: their words in any case style or script, and the characters that ids of contracts may have."""

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


ALLOWED_IN_IDS = "letters, digits and . _ - : /"
_REFUSED_IN_IDS = frozenset("!\"$'()*,;<>[\\]^`{|}")


def invalid_id_characters(contract_id: str) -> list[str]:
    """Return the blanks and special characters of an id, each once, in order."""
    return list(dict.fromkeys(each for each in contract_id if each.isspace() or each in _REFUSED_IN_IDS))
