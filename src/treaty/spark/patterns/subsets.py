"""All states that a pattern may be in at once, as sets."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from treaty.spark.patterns.automaton import Automaton
from treaty.spark.patterns.characters import ANY, Characters

Here: TypeAlias = frozenset[int]
BEFORE = -1
"""The state before the first character; in a search it is never left."""
START: Here = frozenset([BEFORE])
_MOST_PARTS = 128


class Subsets:
    """The steps of a pattern from all states it may be in to all it may be in after one more character."""

    def __init__(self, states: Automaton, *, searched: bool) -> None:
        self.states = states
        self.searched = searched

    @cached_property
    def alphabet(self) -> list[Characters]:
        """The coarsest parts of all characters that no set of the pattern cuts through; none if they are many."""
        parts = [ANY]
        for among in dict.fromkeys(self.states.reads):
            parts = [piece for part in parts for piece in (part & among, part & ~among) if piece]
            if len(parts) > _MOST_PARTS:
                return []
        return parts

    @cached_property
    def _readers(self) -> list[frozenset[int]]:
        reads = self.states.reads
        inside = {among: [among.overlaps(part) for part in self.alphabet] for among in set(reads)}
        return [
            frozenset([BEFORE, *(state for state, among in enumerate(reads) if inside[among][at])])
            for at in range(len(self.alphabet))
        ]

    @cached_property
    def _after(self) -> dict[int, tuple[int, ...]]:
        before = (BEFORE, *self.states.first) if self.searched else self.states.first
        return {BEFORE: before, **{state: tuple(steps.elements()) for state, steps in enumerate(self.states.steps)}}

    def ways(self, here: Here) -> list[list[tuple[int, int]]]:
        """Return for each part of the alphabet the steps that one of its characters allows: from where to where."""
        steps = [(state, step) for state in here for step in self._after[state]]
        return [[way for way in steps if way[1] in readers] for readers in self._readers]

    def accepts(self, here: Here) -> bool:
        """Tell whether the pattern may be at its end."""
        return bool(here & self.states.last) or (self.states.empty and BEFORE in here)
