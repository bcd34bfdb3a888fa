"""Limit the recursion of Java's engine: find loops that can be possessive, and the value length the stack allows.

The engine recurses for each iteration of a loop over a group, unless the loop is possessive (never backtracks).
"""

from __future__ import annotations

from collections.abc import Iterable

from treaty.regex.automaton import Automaton, Loop, Path
from treaty.regex.tree import (
    Alternation,
    Anchor,
    CharacterClass,
    Concatenation,
    Node,
    Repetition,
    can_be_empty,
    lengths,
    walk,
)

_MAX_PAIRS = 20_000


def possessive_loops(node: Node, states: Automaton, *, to_the_end: bool) -> frozenset[Path]:
    """Return the loops that can be possessive without changing which texts match."""
    deterministic = {state for state, steps in enumerate(states.steps) if _are_disjoint(states, steps.elements())}
    return frozenset(
        path
        for path, loop in _loops(node, ())
        if not any(isinstance(part, Anchor) for part in walk(loop))
        and (
            (
                _tries_longest_first(loop)
                and all(_is_deterministic(states, copy, deterministic) for copy in states.loops[path])
            )
            or (
                loop.most is None
                and all(_has_distinct_iterations(states, copy, to_the_end=to_the_end) for copy in states.loops[path])
            )
        )
    )


def _loops(node: Node, path: Path) -> Iterable[tuple[Path, Repetition]]:
    match node:
        case Concatenation(parts) | Alternation(parts):
            for at, part in enumerate(parts):
                yield from _loops(part, (*path, at))
        case Repetition(part):
            yield path, node
            yield from _loops(part, (*path, 0))


def _tries_longest_first(loop: Repetition) -> bool:
    """Return whether each iteration tries its longest match first: no option of an alternation can be empty."""
    return not any(isinstance(node, Alternation) and any(map(can_be_empty, node.options)) for node in walk(loop))


def _is_deterministic(states: Automaton, loop: Loop, deterministic: set[int]) -> bool:
    """Return whether the next character always leaves only one way to continue."""
    if not loop.states <= deterministic:
        return False
    around = (steps for state, steps in enumerate(states.steps) if state not in loop.states)
    entries = {step for steps in (states.first, *around) for step in steps if step in loop.states}
    return _are_disjoint(states, (*entries, *_exits(states, loop)))


def _has_distinct_iterations(states: Automaton, loop: Loop, *, to_the_end: bool) -> bool:
    """Return whether no iteration is a prefix of another iteration or of what can follow the loop."""
    iterations = {(last, first) for last in loop.last for first in loop.first}
    if not loop.one_copy or any(states.steps[last][first] != 1 for last, first in iterations):
        return False
    staying = {
        state: [step for step in states.steps[state] if step in loop.states and (state, step) not in iterations]
        for state in loop.states
    }
    iteration_pairs = _state_pairs(states, loop.first, loop.first, staying, staying)
    if iteration_pairs is None or any(state in loop.last and staying[other] for state, other in iteration_pairs):
        return False
    anywhere = {state: list(steps) for state, steps in enumerate(states.steps)}
    exit_pairs = _state_pairs(states, loop.first, _exits(states, loop), staying, anywhere)
    if exit_pairs is None or any(state in loop.last for state, _ in exit_pairs):
        return False
    if to_the_end:
        return True
    can_end_in_loop = not states.last.isdisjoint(loop.last) or states.empty
    return not can_end_in_loop and not any(other in states.last for _, other in exit_pairs)


def _exits(states: Automaton, loop: Loop) -> set[int]:
    return {step for state in loop.states for step in states.steps[state] if step not in loop.states}


def _state_pairs(
    states: Automaton,
    ones: Iterable[int],
    others: Iterable[int],
    after_one: dict[int, list[int]],
    after_other: dict[int, list[int]],
) -> set[tuple[int, int]] | None:
    """Return the pairs of states that two matches of the same text can be in; None if there are too many."""
    visited: set[tuple[int, int]] = set()
    pending = _overlapping(states, ones, others)
    while pending:
        pair = pending.pop()
        if pair not in visited:
            visited.add(pair)
            pending.extend(_overlapping(states, after_one[pair[0]], after_other[pair[1]]))
        if len(visited) > _MAX_PAIRS:
            return None
    return visited


def _overlapping(states: Automaton, firsts: Iterable[int], seconds: Iterable[int]) -> list[tuple[int, int]]:
    seconds = tuple(seconds)
    return [
        (first, second) for first in firsts for second in seconds if states.reads[first].overlaps(states.reads[second])
    ]


def _are_disjoint(states: Automaton, steps: Iterable[int]) -> bool:
    """Return whether no character is read by two of the states."""
    reads = [states.reads[step] for step in steps]
    return not any(first.overlaps(second) for at, first in enumerate(reads) for second in reads[:at])


_MAX_CALLS = 3_000
"""A third of what a thread with the usual stack of 1 MB holds."""
_UNLIMITED = 1 << 30
_CALLS_PER_ITERATION = 3
_CALLS_PER_ALTERNATION = 2


def max_length_for_stack(node: Node, possessive: frozenset[Path], path: Path = ()) -> int:
    """Return how long a value can be before a loop that is not possessive overflows the stack."""
    match node:
        case Concatenation(parts) | Alternation(parts):
            limits = (max_length_for_stack(part, possessive, (*path, at)) for at, part in enumerate(parts))
            return min(limits, default=_UNLIMITED)
        case Repetition(part, _, most):
            inner = max_length_for_stack(part, possessive, (*path, 0))
            if (
                isinstance(part, CharacterClass)
                or path in possessive
                or (most is not None and most * _calls(part) <= _MAX_CALLS)
            ):
                return inner
            options = part.options if isinstance(part, Alternation) else (part,)
            iterations = min(
                _MAX_CALLS * max(lengths(option)[0], 1) // (_CALLS_PER_ITERATION + _calls(option)) for option in options
            )
            return min(inner, iterations)
    return _UNLIMITED


def _calls(node: Node) -> int:
    match node:
        case Concatenation(parts):
            return sum(map(_calls, parts))
        case Alternation(options):
            return _CALLS_PER_ALTERNATION + sum(map(_calls, options))
        case Repetition(part):
            return _CALLS_PER_ITERATION + _calls(part)
    return 1
