"""Names and descriptions as words, for rules that read them."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_TEXT_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
FILLER = frozenset(
    {
        *("a", "an", "the", "of", "for", "to", "in", "on", "is", "are", "this", "that", "its", "it", "and", "or"),
        *("field", "column", "value", "attribute", "contains", "stores", "holds", "represents", "denotes", "with"),
        *("which", "name", "data", "given", "current", "used", "as", "by", "record", "row", "corresponding"),
    }
)
_ABBREVIATIONS = {"id": "identifier", "ts": "timestamp", "qty": "quantity", "amt": "amount", "desc": "description"}


def words_of_name(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words, whatever its case style."""
    return tuple(word.lower() for word in _WORD.findall(name))


def words_of_text(text: str) -> tuple[str, ...]:
    """Split a text into lower-case words, any script."""
    return tuple(word.lower() for word in _TEXT_WORD.findall(text))


def stem(word: str) -> str:
    """Return a word without what its form adds, so that `orders` and `order` meet."""
    word = _ABBREVIATIONS.get(word, word)
    for ending in ("ies", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def is_circular(name: str, text: str) -> bool:
    """Tell whether a text says nothing that the name does not."""
    said = {stem(word) for word in words_of_text(text) if word not in FILLER}
    named = {stem(word) for word in words_of_name(name)}
    return said <= named
