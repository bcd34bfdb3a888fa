"""Patterns that say something Spark can tell without a regular expression, or with a simpler one."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.spark.columns import all_of, any_of
from treaty.spark.patterns.anchoring import Anchored, anchored
from treaty.spark.patterns.characters import ASCII
from treaty.spark.patterns.listing import texts_of
from treaty.spark.patterns.rendering import Rendering
from treaty.spark.patterns.tree import NEVER, Again, Node, One, takes_nothing

_FEW_TEXTS = 4
_FEW_CHARACTERS = 5
_MOST_BYTES = 4
"""A character takes at most so many bytes."""


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
