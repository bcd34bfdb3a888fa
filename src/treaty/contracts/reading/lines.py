"""Line numbers of the parts of a document, found by the keys and positions that lead there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from treaty.contracts.findings import Place

Pointer: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a part of a document."""

PlaceOf: TypeAlias = Callable[[Sequence[str | int]], Place]
"""Tells where the part stands that keys and positions lead to."""

LineTree: TypeAlias = "dict[str, tuple[int, LineTree | None]] | list[tuple[int, LineTree | None]]"
"""Beside each mapping and sequence: the line of each child, and the child's own tree."""


def line_at(tree: LineTree | None, pointer: Sequence[str | int]) -> int:
    """Return the line of the part, or of the nearest part around it that is there."""
    line = 1
    for key in pointer:
        found = None
        if isinstance(tree, dict) and isinstance(key, str):
            found = tree.get(key)
        elif isinstance(tree, list) and isinstance(key, int) and 0 <= key < len(tree):
            found = tree[key]
        if found is None:
            break
        line, tree = found
    return line
