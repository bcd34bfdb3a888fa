"""Splits names and descriptions into words and stems, and detects empty and circular descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from treaty.contracts.names import CAMEL, split_words

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+(?:['’][^\W_]+)?")
"""A word in any script; in scripts without spaces, each character is a word."""

FILLER = frozenset(
    {
        *(
            "a",
            "an",
            "the",
            "of",
            "for",
            "to",
            "in",
            "on",
            "is",
            "are",
            "this",
            "that",
            "its",
            "it",
            "and",
            "or",
            "all",
        ),
        *("field", "column", "value", "attribute", "contains", "stores", "holds", "represents", "denotes", "with"),
        *("which", "data", "given", "current", "used", "as", "by", "record", "row", "corresponding", "whether"),
        *("table", "dataset", "topic", "object"),
    }
)
_PLACEHOLDERS = frozenset(
    {"tbd", "todo", "tba", "n a", "na", "none", "null", "fixme", "xxx", "see name", "self explanatory"}
)
_ABBREVIATIONS = {
    "id": "identifier",
    "ids": "identifier",
    "ts": "timestamp",
    "qty": "quantity",
    "amt": "amount",
    "desc": "description",
    "no": "number",
}
MAX_CACHED_TEXTS = 20_000
"""Several rules split the same name or description; a contract of this many fields is split once."""
_PLURAL = ("sses", "xes", "zes", "ches", "shes", "uses")


@lru_cache(MAX_CACHED_TEXTS)
def split_text(text: str) -> tuple[str, ...]:
    """Split a text in any script into lower-case words."""
    words: list[str] = []
    for token in _TOKEN.findall(text):
        plain = token.removesuffix("'s").removesuffix("’s")
        words += CAMEL.findall(plain) if plain.isascii() and not plain.istitle() and not plain.islower() else [plain]
    return tuple(word.lower() for word in words)


@lru_cache(MAX_CACHED_TEXTS)
def stem(word: str) -> str:
    """Return the stem of a word, so that `orders` and `order` are equal."""
    word = _ABBREVIATIONS.get(word, word)
    if len(word) <= 3:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(_PLURAL):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def stems(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of some words."""
    return frozenset(map(stem, words))


def says_nothing(text: str | None) -> bool:
    """Return whether a text is empty, has no words, or is a placeholder such as TBD."""
    words = split_text(text or "")
    return not words or " ".join(words) in _PLACEHOLDERS


def is_circular(name: str, text: str, around: Iterable[str] = ()) -> bool:
    """Return whether a text has no words beyond those of the name and the names around it."""
    described = stems(word for word in split_text(text) if word not in FILLER)
    named = stems(split_words(name))
    for other in around:
        named |= stems(split_words(other))
    return described <= named
