"""What a contract excludes, as words that names of fields and labels in texts are recognized by.

`exclusions:` are sentences for people. A field or label leaks an exclusion if it has a word of the sentence that
neither a declared field nor everyday language uses: `internalNotes`, `rowId`, `row=4711`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from treaty.contracts.blocks import Exclusion
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.names import split_words

_WORD = re.compile(r"[A-Za-z]+")
_ORDINARY = frozenset(
    {
        *("a", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from", "has", "have"),
        *("how", "in", "into", "is", "it", "its", "no", "none", "nor", "not", "of", "on", "one", "or", "other", "own"),
        *("out", "over", "per", "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they"),
        *("this", "those", "to", "under", "until", "was", "what", "when", "where", "which", "who", "whose", "why"),
        *(
            "will",
            "with",
            "within",
            "without",
            "all",
            "also",
            "date",
            "day",
            "detail",
            "each",
            "edit",
            "event",
            "every",
        ),
        *("field", "full", "id", "identifier", "information", "internal", "kind", "name", "number", "only", "part"),
        *("published", "publisher", "raw", "reader", "state", "status", "system", "time", "type", "value", "version"),
        *("whole", "data"),
    }
)
"""Words that say too little to recognize an exclusion by."""
_MIN_PREFIX = 4
_SUFFIX = r"(?:[_-]?(?:[Ii][Dd]|[Nn]o|[Nn]umber|[Vv]ersion|[Kk]ey))?"


@dataclass(frozen=True, slots=True)
class ExcludedWords:
    """An exclusion and the words that it is recognized by."""

    exclusion: Exclusion
    words: frozenset[str]

    def is_named_by(self, name: str) -> bool:
        """Return whether the name of a field has one of the words, or at least its first four letters."""
        return any(_is_same(word, known) for word in map(_singular, split_words(name)) for known in self.words)


def excluded_words(contract: Contract) -> tuple[ExcludedWords, ...]:
    """Return the exclusions of a contract with the words that they are recognized by; one without words is left out."""
    declared = {word for name in _declared_names(contract.schema[:1]) for word in map(_singular, split_words(name))}
    found = []
    for exclusion in contract.treaty.exclusions:
        words = {_singular(word.lower()) for word in _WORD.findall(exclusion.what)}
        if remaining := frozenset(word for word in words - declared - _ORDINARY if len(word) > 2):
            found.append(ExcludedWords(exclusion, remaining))
    return tuple(found)


def find_excluded(name: str, known: Iterable[ExcludedWords]) -> Exclusion | None:
    """Return the exclusion that the name of an undeclared field leaks, if there is one."""
    return next((one.exclusion for one in known if one.is_named_by(name)), None)


def text_pattern(known: Iterable[ExcludedWords]) -> str | None:
    r"""Return a regular expression for texts with an excluded label and its value; None without words.

    It finds `row=4711`, `row-4711`, `rowId:4711` and `\"internalNotes\":` in embedded JSON, but no words in sentences.
    """
    words = sorted({word for one in known for word in one.words})
    if not words:
        return None
    lower = "|".join(words)
    title = "|".join(word.capitalize() for word in words)
    upper = "|".join(word.upper() for word in words)
    label = rf"(?:(?<![A-Za-z])(?:{lower}|{upper})|(?:{title}))s?{_SUFFIX}"
    return rf"{label}(?:\\+\"\s*:|[=#:](?=[^\s\"\\=:#])|[-_/](?=[0-9]))"


def _declared_names(objects: Iterable[SchemaObject]) -> Iterator[str]:
    pending = [field for schema in objects for field in schema.fields]
    while pending:
        field = pending.pop()
        yield field.name or ""
        pending += [*(field.properties or ()), *(child for _, child in field.children)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_same(word: str, known: str) -> bool:
    return word == known or (len(word) >= _MIN_PREFIX and known.startswith(word))
