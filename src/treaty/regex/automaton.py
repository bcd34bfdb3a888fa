"""A pattern as states and steps: each state is one character asked for in the pattern."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from treaty.regex.character_sets import ANY, Characters
from treaty.regex.tree import Again, At, Either, Node, One, Then, may_be_empty

Path: TypeAlias = tuple[int, ...]
"""Where a node stands: which child of which child of the root."""
_MOST_STATES = 600


@dataclass(frozen=True, slots=True)
class Loop:
    """The states of a repetition, and those that it may begin and end with."""

    states: frozenset[int]
    first: tuple[int, ...]
    last: tuple[int, ...]
    one_copy: bool


@dataclass(frozen=True)
class Automaton:
    """States that read one character each; `steps` counts the ways from a state to the next."""

    reads: tuple[Characters, ...]
    first: tuple[int, ...]
    last: frozenset[int]
    empty: bool
    steps: tuple[Counter[int], ...]
    loops: dict[Path, list[Loop]]
    idle_loops: bool
    """Whether a loop may take a round without a character."""
    exact: bool
    """Whether every count is kept; a long one is taken to have no end."""


def build_automaton(node: Node, copied: int = 64) -> Automaton:
    """Return the states and steps of a pattern; places are taken to hold everywhere, long counts to have no end.

    A count is kept if so many states, `copied`, are enough for it; without the end of a count there are only more ways.
    """
    making = _Making(copied if _states(node, copied) <= _MOST_STATES else 1)
    part = making.part(node, ())
    return Automaton(
        tuple(making.reads),
        part.first,
        frozenset(part.last),
        part.empty,
        tuple(making.steps),
        dict(making.loops),
        making.idle_loops,
        making.exact,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: bool


_NOTHING = _Part((), (), True)


@dataclass
class _Making:
    copied: int
    reads: list[Characters] = field(default_factory=list)
    steps: list[Counter[int]] = field(default_factory=list)
    loops: dict[Path, list[Loop]] = field(default_factory=lambda: defaultdict(list))
    idle_loops: bool = False
    exact: bool = True

    def part(self, node: Node, path: Path) -> _Part:
        match node:
            case One(among):
                self.reads.append(among)
                self.steps.append(Counter())
                return _Part((len(self.reads) - 1,), (len(self.reads) - 1,), empty=False)
            case At():
                return _NOTHING
            case Then(parts):
                return self._then(self.part(part, (*path, at)) for at, part in enumerate(parts))
            case Either(options):
                found = [self.part(option, (*path, at)) for at, option in enumerate(options)]
                first = tuple(state for part in found for state in part.first)
                last = tuple(state for part in found for state in part.last)
                return _Part(first, last, any(part.empty for part in found))
            case Again():
                before = len(self.reads)
                whole = self._again(node, path)
                states = frozenset(range(before, len(self.reads)))
                one_copy = node.least <= 1 or not _unrolled(node, self.copied)
                self.loops[path].append(Loop(states, whole.first, whole.last, one_copy))
                return whole

    def _then(self, parts: Iterable[_Part]) -> _Part:
        whole = _NOTHING
        for part in parts:
            self._link(whole.last, part.first)
            first = whole.first + part.first if whole.empty else whole.first
            last = whole.last + part.last if part.empty else part.last
            whole = _Part(first, last, whole.empty and part.empty)
        return whole

    def _again(self, node: Again, path: Path) -> _Part:
        inner = (*path, 0)
        if node.most is None or node.most > 1:
            self.idle_loops |= may_be_empty(node.part)
        if not _unrolled(node, self.copied):
            self.exact &= node.most is None and node.least <= 1
            part = self._looped(self.part(node.part, inner))
            return _Part(part.first, part.last, part.empty or node.least == 0)
        if node.most is None:
            copies = [self.part(node.part, inner) for _ in range(max(node.least, 1))]
            copies[-1] = self._looped(copies[-1])
            whole = self._then(copies)
            return _Part(whole.first, whole.last, whole.empty or node.least == 0)
        optional = _NOTHING
        for _ in range(node.most - node.least):
            part = self._then((self.part(node.part, inner), optional))
            optional = _Part(part.first, part.last, empty=True)
        return self._then((*(self.part(node.part, inner) for _ in range(node.least)), optional))

    def _looped(self, part: _Part) -> _Part:
        self._link(part.last, part.first)
        return part

    def _link(self, before: Iterable[int], after: tuple[int, ...]) -> None:
        for state in before:
            self.steps[state].update(after)


def _unrolled(node: Again, copied: int) -> bool:
    return max(node.most or node.least, 1) * _states(node.part, copied) <= copied


def _states(node: Node, copied: int) -> int:
    match node:
        case One():
            return 1
        case Then(parts) | Either(parts):
            return sum(_states(part, copied) for part in parts)
        case Again(part, least, most):
            inner = _states(part, copied)
            copies = max(most or least, 1)
            return copies * inner if copies * inner <= copied else inner
    return 0


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
