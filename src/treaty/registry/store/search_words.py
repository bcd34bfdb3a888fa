"""Words of a search: plural forms, words with a typo, and where they were found."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from sqlalchemy import Column, Connection, func, select

from treaty.registry.documents import folded
from treaty.registry.model.contract_answers import MatchAnswer
from treaty.registry.store.tables import audit, contracts

_C = contracts.c
SEARCHED: Mapping[str, Column[str]] = {
    "name": _C.searched_names,
    "field": _C.searched_fields,
    "meaning": _C.searched_meanings,
    "owner": _C.searched_owners,
    "domain": _C.searched_domain,
    "tag": _C.searched_tags,
}
"""The parts of a contract that words are searched in; a match is shown in the first that has it."""

_WORD = re.compile(r"[^\W_]+")
_MAX_WORDS = 12
_MAX_CORRECTIONS = 5
_MIN_CORRECTED = 4
_MIN_TWO_EDITS = 8
_EXCERPT = 120


def query_words(text: str | None) -> list[str]:
    """Return the words of a query, each once."""
    return list(dict.fromkeys(folded(text or "").split()))[:_MAX_WORDS]


def singular(word: str) -> tuple[str, ...]:
    """Return what to look for so that a plural finds the singular: `invoices` is found where `invoice` is."""
    if len(word) > 4 and word.endswith("ies"):
        return word, f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return (word[:-1],)
    return (word,)


class Vocabulary:
    """The words of all contracts of a registry, read again after a change, to correct words with a typo."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head: int | None = None
        self._words: frozenset[str] = frozenset()

    def variants(self, connection: Connection, word: str) -> tuple[str, ...]:
        """Return what to look for in place of a word: its singular, or similar words if no contract has it."""
        forms = singular(word)
        words = self._current(connection)
        if len(word) < _MIN_CORRECTED or any(form in known for form in forms for known in words):
            return forms
        return (*forms, *_corrections(words, forms[-1]))

    def _current(self, connection: Connection) -> frozenset[str]:
        head = connection.execute(select(func.max(audit.c.seq))).scalar() or 0
        with self._lock:
            if head != self._head:
                rows = connection.execute(select(*SEARCHED.values()))
                texts = [text for row in rows for text in row]
                self._words = frozenset(word for text in texts for word in (*text.split(), *_WORD.findall(text)))
                self._head = head
            return self._words


@lru_cache(200)
def _corrections(words: frozenset[str], word: str) -> tuple[str, ...]:
    """Return the known words nearest to a word, if one or (in long words) two edits make it one of them."""
    limit = 2 if len(word) >= _MIN_TWO_EDITS else 1
    letters = frozenset(word)
    near = (
        (distance, known)
        for known in words
        if abs(len(known) - len(word)) <= limit
        and len(letters ^ frozenset(known)) <= 2 * limit
        and (distance := _edits(word, known)) <= limit
    )
    return tuple(known for _, known in sorted(near)[:_MAX_CORRECTIONS])


def _edits(before: str, after: str) -> int:
    """Count the letters to insert, delete, replace or swap with their neighbour."""
    older: list[int] = []
    previous = list(range(len(after) + 1))
    for row, letter in enumerate(before, start=1):
        current = [row]
        for column, other in enumerate(after, start=1):
            cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == after[column - 2] and before[row - 2] == other:
                cost = min(cost, older[column - 2] + 1)
            current.append(cost)
        older, previous = previous, current
    return previous[-1]


def find_matches(texts: Mapping[str, str], words: Sequence[tuple[str, ...]]) -> list[MatchAnswer]:
    """Return where the variants of each word are found in the searched texts of a contract."""
    found = (_first_match(texts, variants) for variants in words)
    return [match for match in found if match is not None]


def _first_match(texts: Mapping[str, str], variants: Iterable[str]) -> MatchAnswer | None:
    for word in variants:
        for part, text in texts.items():
            if (start := text.find(word)) >= 0:
                line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", start)
                line = text[line_start : line_end if line_end >= 0 else None]
                return MatchAnswer.model_validate(
                    {"part": part, "word": word, "text": _excerpt(line, start - line_start)}
                )
    return None


def _excerpt(line: str, start: int) -> str:
    if len(line) <= _EXCERPT:
        return line
    begin = max(0, min(start - _EXCERPT // 3, len(line) - _EXCERPT))
    return f"{'…' if begin else ''}{line[begin : begin + _EXCERPT]}{'…' if begin + _EXCERPT < len(line) else ''}"
