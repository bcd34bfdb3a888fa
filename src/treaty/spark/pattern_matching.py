"""Columns that tell whether a value matches a pattern, without a regular expression where that is possible."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.regex.character_sets import ASCII
from treaty.regex.java_syntax import JavaWriter
from treaty.regex.simplification import Anchors, list_texts, split_anchors
from treaty.regex.translation import JavaPattern, simplified_tree, translate
from treaty.regex.tree import NEVER, CharacterClass, Node, Repetition, matches_empty
from treaty.spark.columns import all_of, any_of

_MAX_BYTES_PER_CHARACTER = 4
"""Bytes that one UTF-8 character takes at most."""


def violates(column: Column, pattern: str) -> Column:
    """Return a column that is true for values that do not match the pattern or are too long; null values pass."""
    matches = matches_by_shape(column, simplified_tree(pattern))
    if matches is None:
        matches = _matches(column, translate(pattern))
    return column.isNotNull() & ~matches


def too_long(column: Column, pattern: str) -> Column:
    """Return a column that is true for values too long to be matched with the pattern."""
    if matches_by_shape(column, simplified_tree(pattern)) is not None:
        return F.lit(False)
    java = translate(pattern)
    if java.longest_match is not None and java.longest_match <= java.max_length:
        return F.lit(False)
    return column.isNotNull() & ~_is_at_most(column, java.max_length)


def _matches(column: Column, java: JavaPattern) -> Column:
    if java.longest_match is not None and java.longest_match * _MAX_BYTES_PER_CHARACTER <= java.max_length:
        fits = F.octet_length(column) <= java.longest_match * _MAX_BYTES_PER_CHARACTER
    else:
        fits = _is_at_most(column, java.max_length)
    # Spark evaluates a branch of `when` only after its condition; it does not promise that for `and`.
    return F.coalesce(F.when(fits, column.rlike(java.text)), F.lit(False))


def _is_at_most(column: Column, longest: int) -> Column:
    return (F.octet_length(column) <= longest) | (F.length(column) <= longest)


_MAX_TEXTS = 4
_MAX_EXCLUDED_CHARACTERS = 5


def matches_by_shape(column: Column, tree: Node) -> Column | None:
    """Return a column that is true for matching values, if no general regular expression is needed; else None."""
    anchors = split_anchors(tree)
    return next((found for shape in _SHAPES if (found := shape(column, anchors)) is not None), None)


def _all_or_none(_: Column, anchors: Anchors) -> Column | None:
    if anchors.middle == NEVER:
        return F.lit(False)
    everything = matches_empty(anchors.middle) and not (anchors.at_start and anchors.at_end)
    return F.lit(True) if everything else None


def _one_of_texts(column: Column, anchors: Anchors) -> Column | None:
    texts = list_texts(anchors.middle) if anchors.at_start and anchors.at_end else None
    return column.isin(*texts) if texts else None


def _contains_text(column: Column, anchors: Anchors) -> Column | None:
    if anchors.at_start and anchors.at_end:
        return None
    texts = list_texts(anchors.middle)
    if not texts or len(texts) > _MAX_TEXTS:
        return None
    holds = column.startswith if anchors.at_start else column.endswith if anchors.at_end else column.contains
    return any_of([holds(text) for text in texts])


def _repeated_class(column: Column, anchors: Anchors) -> Column | None:
    """Match a repeated character class: no other character occurs, and the length is within the anchors."""
    node = anchors.middle if isinstance(anchors.middle, Repetition) else Repetition(anchors.middle, 1, 1)
    if not (anchors.at_start and anchors.at_end and isinstance(node.part, CharacterClass)):
        return None
    others = ~node.part.among
    is_length_ok = _length_within(column, node)
    if len(others) > _MAX_EXCLUDED_CHARACTERS:
        has_others = column.rlike(JavaWriter(frozenset(), is_search=True).text(CharacterClass(others)))
    else:
        has_others = any_of([column.contains(character) for character in others])
    return is_length_ok & ~has_others


def _length_within(column: Column, node: Repetition) -> Column:
    size = F.octet_length(column)
    ascii_only = isinstance(node.part, CharacterClass) and node.part.among.within(ASCII)
    anchors = []
    if node.least > 0:
        enough = size >= node.least
        anchors.append(enough if ascii_only or node.least == 1 else enough & (F.length(column) >= node.least))
    if node.most is not None:
        few = size <= node.most
        anchors.append(
            few
            if ascii_only
            else few | ((size <= node.most * _MAX_BYTES_PER_CHARACTER) & (F.length(column) <= node.most))
        )
    return all_of(anchors)


_SHAPES: tuple[Callable[[Column, Anchors], Column | None], ...] = (
    _all_or_none,
    _one_of_texts,
    _contains_text,
    _repeated_class,
)
