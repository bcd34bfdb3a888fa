"""Whether a value matches a pattern, as a column."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.regex.character_sets import ASCII
from treaty.regex.java_syntax import Rendering
from treaty.regex.simplification import Anchored, anchored, texts_of
from treaty.regex.translation import JavaPattern, plain_tree, translate
from treaty.regex.tree import NEVER, Again, Node, One, takes_nothing
from treaty.spark.columns import all_of, any_of

_MOST_BYTES = 4
"""A character takes at most so many bytes."""


def violates(column: Column, pattern: str) -> Column:
    """Return whether a value, where there is one, does not match the pattern or is too long to be matched."""
    matches = matches_by_shape(column, plain_tree(pattern))
    if matches is None:
        matches = _matches(column, translate(pattern))
    return column.isNotNull() & ~matches


def too_long(column: Column, pattern: str) -> Column:
    """Return whether a value, where there is one, is longer than what may be matched with the pattern."""
    if matches_by_shape(column, plain_tree(pattern)) is not None:
        return F.lit(False)
    java = translate(pattern)
    if java.longest_match is not None and java.longest_match <= java.longest:
        return F.lit(False)
    return column.isNotNull() & ~_reaches(column, java.longest)


def _matches(column: Column, java: JavaPattern) -> Column:
    first, *others = java.engines
    if java.longest_match is not None and java.longest_match * _MOST_BYTES <= first.longest:
        fits = F.octet_length(column) <= java.longest_match * _MOST_BYTES
    else:
        fits = _reaches(column, first.longest)
    # A branch is never evaluated ahead of its condition, which Spark does not promise for `and`.
    matches = F.when(fits, column.rlike(first.text))
    for engine in others:
        matches = matches.when(_reaches(column, engine.longest), column.rlike(engine.text))
    return F.coalesce(matches, F.lit(False))


def _reaches(column: Column, longest: int) -> Column:
    return (F.octet_length(column) <= longest) | (F.length(column) <= longest)


_FEW_TEXTS = 4
_FEW_CHARACTERS = 5


def matches_by_shape(column: Column, tree: Node) -> Column | None:
    """Return whether a value matches, if the pattern has one of the shapes that are cheap to tell."""
    bounds = anchored(tree)
    return next((found for shape in _SHAPES if (found := shape(column, bounds)) is not None), None)


def _all_or_none(_: Column, bounds: Anchored) -> Column | None:
    if bounds.middle == NEVER:
        return F.lit(False)
    everything = takes_nothing(bounds.middle) and not (bounds.begins and bounds.ends)
    return F.lit(True) if everything else None


def _listed(column: Column, bounds: Anchored) -> Column | None:
    texts = texts_of(bounds.middle) if bounds.begins and bounds.ends else None
    return column.isin(*texts) if texts else None


def _held(column: Column, bounds: Anchored) -> Column | None:
    if bounds.begins and bounds.ends:
        return None
    texts = texts_of(bounds.middle)
    if not texts or len(texts) > _FEW_TEXTS:
        return None
    holds = column.startswith if bounds.begins else column.endswith if bounds.ends else column.contains
    return any_of([holds(text) for text in texts])


def _of_one_set(column: Column, bounds: Anchored) -> Column | None:
    """Tell that a text consists of a set's characters: none of the others is in it, and it is as long as asked."""
    node = bounds.middle if isinstance(bounds.middle, Again) else Again(bounds.middle, 1, 1)
    if not (bounds.begins and bounds.ends and isinstance(node.part, One)):
        return None
    others = ~node.part.among
    as_long = _as_long(column, node)
    if len(others) > _FEW_CHARACTERS:
        strange = column.rlike(Rendering(frozenset(), searched=True).text(One(others)))
    else:
        strange = any_of([column.contains(character) for character in others])
    return as_long & ~strange


def _as_long(column: Column, node: Again) -> Column:
    size = F.octet_length(column)
    ascii_only = isinstance(node.part, One) and node.part.among.within(ASCII)
    bounds = []
    if node.least > 0:
        enough = size >= node.least
        bounds.append(enough if ascii_only or node.least == 1 else enough & (F.length(column) >= node.least))
    if node.most is not None:
        few = size <= node.most
        bounds.append(
            few if ascii_only else few | ((size <= node.most * _MOST_BYTES) & (F.length(column) <= node.most))
        )
    return all_of(bounds)


_SHAPES: tuple[Callable[[Column, Anchored], Column | None], ...] = (_all_or_none, _listed, _held, _of_one_set)
