"""The texts that a pattern matches, where they are few."""

from __future__ import annotations

from treaty.spark.patterns.tree import Again, At, Either, Node, One, Then

_MOST = 128


def texts_of(node: Node) -> tuple[str, ...] | None:
    """Return every text that a pattern matches in full, or None if they are many or depend on a place."""
    match node:
        case One(among):
            return tuple(among) if len(among) <= _MOST else None
        case At():
            return None
        case Then(parts):
            return _one_after_the_other(parts)
        case Either(options):
            found = [texts_of(option) for option in options]
            texts = tuple(dict.fromkeys(text for some in found for text in some or ()))
            return None if None in found or len(texts) > _MOST else texts
        case Again(_, _, None):
            return None
        case Again(part, least, most):
            found = [_one_after_the_other((part,) * times) for times in range(least, (most or 0) + 1)]
            texts = tuple(dict.fromkeys(text for some in found for text in some or ()))
            return None if None in found or len(texts) > _MOST else texts


def _one_after_the_other(parts: tuple[Node, ...]) -> tuple[str, ...] | None:
    texts: tuple[str, ...] = ("",)
    for part in parts:
        found = texts_of(part)
        if found is None or len(texts) * len(found) > _MOST:
            return None
        texts = tuple(text + more for text in texts for more in found)
    return tuple(dict.fromkeys(texts))
