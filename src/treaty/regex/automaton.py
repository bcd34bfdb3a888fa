"""The position automaton of a pattern: each state stands for one character class in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from treaty.regex.character_sets import ANY, CharacterSet
from treaty.regex.tree import Alternation, Anchor, CharacterClass, Concatenation, Node, Repetition, can_be_empty

Path: TypeAlias = tuple[int, ...]
"""The position of a node in the tree: the child index at each level."""
_MAX_STATES = 600


@dataclass(frozen=True, slots=True)
class Loop:
    """The states of a repetition, and those that an iteration can begin and end with."""

    states: frozenset[int]
    first: tuple[int, ...]
    last: tuple[int, ...]
    one_copy: bool


@dataclass(frozen=True)
class Automaton:
    """States that read one character each; `steps` counts the transitions from a state to the next."""

    reads: tuple[CharacterSet, ...]
    first: tuple[int, ...]
    last: frozenset[int]
    empty: bool
    steps: tuple[Counter[int], ...]
    loops: dict[Path, list[Loop]]
    idle_loops: bool
    """Whether a loop can iterate without consuming a character."""
    is_exact: bool
    """Whether all counted repetitions are unrolled; otherwise some are treated as unlimited."""


def build_automaton(node: Node, unrolled: int = 64) -> Automaton:
    """Build the automaton of a pattern.

    Anchors are assumed to hold everywhere. A counted repetition is unrolled if that takes at most `unrolled` states and
    is treated as unlimited otherwise. Both can only add transitions to match.
    """
    builder = _Builder(unrolled if _count_states(node, unrolled) <= _MAX_STATES else 1)
    part = builder.part(node, ())
    return Automaton(
        tuple(builder.reads),
        part.first,
        frozenset(part.last),
        part.empty,
        tuple(builder.steps),
        dict(builder.loops),
        builder.idle_loops,
        builder.is_exact,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: bool


_NOTHING = _Part((), (), True)


@dataclass
class _Builder:
    unrolled: int
    reads: list[CharacterSet] = field(default_factory=list)
    steps: list[Counter[int]] = field(default_factory=list)
    loops: dict[Path, list[Loop]] = field(default_factory=lambda: defaultdict(list))
    idle_loops: bool = False
    is_exact: bool = True

    def part(self, node: Node, path: Path) -> _Part:
        match node:
            case CharacterClass(among):
                self.reads.append(among)
                self.steps.append(Counter())
                return _Part((len(self.reads) - 1,), (len(self.reads) - 1,), empty=False)
            case Anchor():
                return _NOTHING
            case Concatenation(parts):
                return self._concatenate(self.part(part, (*path, at)) for at, part in enumerate(parts))
            case Alternation(options):
                branches = [self.part(option, (*path, at)) for at, option in enumerate(options)]
                first = tuple(state for part in branches for state in part.first)
                last = tuple(state for part in branches for state in part.last)
                return _Part(first, last, any(part.empty for part in branches))
            case Repetition():
                before = len(self.reads)
                combined = self._repeat(node, path)
                states = frozenset(range(before, len(self.reads)))
                one_copy = node.least <= 1 or not _is_unrolled(node, self.unrolled)
                self.loops[path].append(Loop(states, combined.first, combined.last, one_copy))
                return combined

    def _concatenate(self, parts: Iterable[_Part]) -> _Part:
        combined = _NOTHING
        for part in parts:
            self._link(combined.last, part.first)
            first = combined.first + part.first if combined.empty else combined.first
            last = combined.last + part.last if part.empty else part.last
            combined = _Part(first, last, combined.empty and part.empty)
        return combined

    def _repeat(self, node: Repetition, path: Path) -> _Part:
        inner = (*path, 0)
        if node.most is None or node.most > 1:
            self.idle_loops |= can_be_empty(node.part)
        if not _is_unrolled(node, self.unrolled):
            self.is_exact &= node.most is None and node.least <= 1
            part = self._loop(self.part(node.part, inner))
            return _Part(part.first, part.last, part.empty or node.least == 0)
        if node.most is None:
            copies = [self.part(node.part, inner) for _ in range(max(node.least, 1))]
            copies[-1] = self._loop(copies[-1])
            combined = self._concatenate(copies)
            return _Part(combined.first, combined.last, combined.empty or node.least == 0)
        optional = _NOTHING
        for _ in range(node.most - node.least):
            part = self._concatenate((self.part(node.part, inner), optional))
            optional = _Part(part.first, part.last, empty=True)
        return self._concatenate((*(self.part(node.part, inner) for _ in range(node.least)), optional))

    def _loop(self, part: _Part) -> _Part:
        self._link(part.last, part.first)
        return part

    def _link(self, before: Iterable[int], after: tuple[int, ...]) -> None:
        for state in before:
            self.steps[state].update(after)


def _is_unrolled(node: Repetition, unrolled: int) -> bool:
    return max(node.most or node.least, 1) * _count_states(node.part, unrolled) <= unrolled


def _count_states(node: Node, unrolled: int) -> int:
    match node:
        case CharacterClass():
            return 1
        case Concatenation(parts) | Alternation(parts):
            return sum(_count_states(part, unrolled) for part in parts)
        case Repetition(part, least, most):
            inner = _count_states(part, unrolled)
            copies = max(most or least, 1)
            return copies * inner if copies * inner <= unrolled else inner
    return 0


StateSet: TypeAlias = frozenset[int]
BEFORE = -1
"""The state before the first character; a search never leaves it."""
START: StateSet = frozenset([BEFORE])
_MAX_GROUPS = 128


class StateSets:
    """The subset construction of an automaton, computed on demand."""

    def __init__(self, states: Automaton, *, is_search: bool) -> None:
        self.states = states
        self.is_search = is_search

    @cached_property
    def alphabet(self) -> list[CharacterSet]:
        """All characters in groups that the pattern does not tell apart; empty if there are too many groups."""
        parts = [ANY]
        for among in dict.fromkeys(self.states.reads):
            parts = [piece for part in parts for piece in (part & among, part & ~among) if piece]
            if len(parts) > _MAX_GROUPS:
                return []
        return parts

    @cached_property
    def _readers(self) -> list[frozenset[int]]:
        reads = self.states.reads
        overlaps = {among: [among.overlaps(part) for part in self.alphabet] for among in set(reads)}
        return [
            frozenset([BEFORE, *(state for state, among in enumerate(reads) if overlaps[among][at])])
            for at in range(len(self.alphabet))
        ]

    @cached_property
    def _after(self) -> dict[int, tuple[int, ...]]:
        before = (BEFORE, *self.states.first) if self.is_search else self.states.first
        return {BEFORE: before, **{state: tuple(steps.elements()) for state, steps in enumerate(self.states.steps)}}

    def transitions(self, here: StateSet) -> list[list[tuple[int, int]]]:
        """Return the transitions (from, to) that each group of the alphabet allows from these states."""
        steps = [(state, step) for state in here for step in self._after[state]]
        return [[transition for transition in steps if transition[1] in readers] for readers in self._readers]
