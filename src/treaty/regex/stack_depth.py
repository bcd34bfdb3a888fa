"""Which loops of a pattern never have to give back what they took: the engine need not remember their rounds."""

from __future__ import annotations

from collections.abc import Iterable

from treaty.regex.automaton import Automaton, Loop, Path
from treaty.regex.tree import Again, At, Either, Node, One, Then, inside, lengths, may_be_empty

_MOST_PAIRS = 20_000


def possessive_loops(node: Node, states: Automaton, *, to_the_end: bool) -> frozenset[Path]:
    """Return which loops may keep what they took without a change in what matches."""
    certain = {state for state, steps in enumerate(states.steps) if _apart(states, steps.elements())}
    return frozenset(
        path
        for path, loop in _loops(node, ())
        if not any(isinstance(part, At) for part in inside(loop))
        and (
            (_longest_first(loop) and all(_told_by_a_character(states, found, certain) for found in states.loops[path]))
            or (
                loop.most is None
                and all(_told_by_a_round(states, found, to_the_end=to_the_end) for found in states.loops[path])
            )
        )
    )


def _loops(node: Node, path: Path) -> Iterable[tuple[Path, Again]]:
    match node:
        case Then(parts) | Either(parts):
            for at, part in enumerate(parts):
                yield from _loops(part, (*path, at))
        case Again(part):
            yield path, node
            yield from _loops(part, (*path, 0))


def _longest_first(loop: Again) -> bool:
    """Tell whether the first reading of each round is its longest: no empty option stands before another."""
    return not any(isinstance(node, Either) and any(map(may_be_empty, node.options)) for node in inside(loop))


def _told_by_a_character(states: Automaton, loop: Loop, certain: set[int]) -> bool:
    """Tell whether at every step the next character leaves one way to go on."""
    if not loop.states <= certain:
        return False
    around = (steps for state, steps in enumerate(states.steps) if state not in loop.states)
    entries = {step for steps in (states.first, *around) for step in steps if step in loop.states}
    return _apart(states, (*entries, *_exits(states, loop)))


def _told_by_a_round(states: Automaton, loop: Loop, *, to_the_end: bool) -> bool:
    """Tell whether no text begins with a round both shorter and longer, nor with a round where one could leave."""
    rounds = {(last, first) for last in loop.last for first in loop.first}
    if not loop.one_copy or any(states.steps[last][first] != 1 for last, first in rounds):
        return False
    staying = {
        state: [step for step in states.steps[state] if step in loop.states and (state, step) not in rounds]
        for state in loop.states
    }
    for_rounds = _pairs(states, loop.first, loop.first, staying, staying)
    if for_rounds is None or any(one in loop.last and staying[other] for one, other in for_rounds):
        return False
    anywhere = {state: list(steps) for state, steps in enumerate(states.steps)}
    for_leaving = _pairs(states, loop.first, _exits(states, loop), staying, anywhere)
    if for_leaving is None or any(one in loop.last for one, _ in for_leaving):
        return False
    if to_the_end:
        return True
    may_end_at_once = not states.last.isdisjoint(loop.last) or states.empty
    return not may_end_at_once and not any(other in states.last for _, other in for_leaving)


def _exits(states: Automaton, loop: Loop) -> set[int]:
    return {step for state in loop.states for step in states.steps[state] if step not in loop.states}


def _pairs(
    states: Automaton,
    ones: Iterable[int],
    others: Iterable[int],
    after_one: dict[int, list[int]],
    after_other: dict[int, list[int]],
) -> set[tuple[int, int]] | None:
    """Return the states that two ways can be in after the same text; None if there are too many."""
    found: set[tuple[int, int]] = set()
    pending = _both(states, ones, others)
    while pending:
        pair = pending.pop()
        if pair not in found:
            found.add(pair)
            pending.extend(_both(states, after_one[pair[0]], after_other[pair[1]]))
        if len(found) > _MOST_PAIRS:
            return None
    return found


def _both(states: Automaton, ones: Iterable[int], others: Iterable[int]) -> list[tuple[int, int]]:
    others = tuple(others)
    return [(one, other) for one in ones for other in others if states.reads[one].overlaps(states.reads[other])]


def _apart(states: Automaton, steps: Iterable[int]) -> bool:
    """Tell whether no character fits two of the steps."""
    reads = [states.reads[step] for step in steps]
    return not any(one.overlaps(other) for at, one in enumerate(reads) for other in reads[:at])


_CALLS = 3_000  # a third of what a thread with the usual stack of 1 MB was seen to hold
_UNLIMITED = 1 << 30
_PER_ROUND = 3
_PER_CHOICE = 2


def longest_by_stack(node: Node, possessive: frozenset[Path], path: Path = ()) -> int:
    """Return how many characters every loop can take; one without rounds inside rounds takes any number."""
    match node:
        case Then(parts) | Either(parts):
            found = (longest_by_stack(part, possessive, (*path, at)) for at, part in enumerate(parts))
            return min(found, default=_UNLIMITED)
        case Again(part, _, most):
            inner = longest_by_stack(part, possessive, (*path, 0))
            if isinstance(part, One) or path in possessive or (most is not None and most * _calls(part) <= _CALLS):
                return inner
            options = part.options if isinstance(part, Either) else (part,)
            rounds = min(_CALLS * max(lengths(option)[0], 1) // (_PER_ROUND + _calls(option)) for option in options)
            return min(inner, rounds)
    return _UNLIMITED


def _calls(node: Node) -> int:
    match node:
        case Then(parts):
            return sum(map(_calls, parts))
        case Either(options):
            return _PER_CHOICE + sum(map(_calls, options))
        case Again(part):
            return _PER_ROUND + _calls(part)
    return 1
