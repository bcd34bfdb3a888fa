"""Suggestions for names that are not known: "did you mean …?"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_COMPARED_CHARACTERS = 60
_MAX_COMPARED_NAMES = 5_000
_MIN_SIMILARITY = 0.6


def similar_names(name: str, known: Iterable[str], most: int = 3, similarity: float = _MIN_SIMILARITY) -> list[str]:
    """Return the known names that are most similar to a name, best first, regardless of case."""
    by_folded: dict[str, str] = {}
    for _, other in zip(range(_MAX_COMPARED_NAMES), known, strict=False):
        by_folded.setdefault(other[:MAX_COMPARED_CHARACTERS].casefold(), str(other))  # a member of an enum as its text
    folded = name[:MAX_COMPARED_CHARACTERS].casefold()
    return [by_folded[match] for match in get_close_matches(folded, by_folded, n=most, cutoff=similarity)]


def choose(name: str, known: Iterable[str]) -> str:
    """Return a hint for a word of a short list: the most similar one, and the whole list."""
    words = [*known]
    suggestion = did_you_mean(name, words)
    return f"{suggestion} use one of: {', '.join(words)}".strip()


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return "did you mean …?" with the most similar known name, or another hint if none is similar."""
    close = similar_names(name, known, most=1)
    return f"did you mean {close[0]!r}?" if close else otherwise
