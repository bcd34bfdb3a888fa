"""Bound how many ways a backtracking engine can match one text, from the automaton of a pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import factorial
from typing import TypeAlias

from treaty.regex.automaton import BEFORE, START, Automaton, StateSet, StateSets
from treaty.regex.character_sets import ANY, NOTHING, CharacterSet

_MAX_STEPS = 300_000
_SAMPLE_LENGTH = 30
_LONG_SAMPLE_LENGTH = 150
"""Used where the number of ways does not grow with the text (degree 0)."""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """The number of ways to match a text of n characters: exponential, or about `ways` × n^`degree`."""

    is_exponential: bool
    degree: int = 0
    ways: int = 1


EXPONENTIAL = Ambiguity(is_exponential=True)


def measure_ambiguity(states: Automaton, *, is_search: bool) -> Ambiguity:
    """Return a bound for the ways to match; a search starts at every character of the text."""
    if states.idle_loops:
        return EXPONENTIAL
    graph = _Graph(states, is_search=is_search)
    try:
        if any(graph.is_exponential(component) for component in graph.cyclic):
            return EXPONENTIAL
        degree = graph.degree()
    except _TooComplex:
        return EXPONENTIAL
    length = _LONG_SAMPLE_LENGTH if degree == 0 else _SAMPLE_LENGTH
    readings = count_readings(states, is_search=is_search, length=length)
    if readings is None:
        return EXPONENTIAL
    return Ambiguity(
        is_exponential=False, degree=degree, ways=max(1, round(readings * factorial(degree) / length**degree))
    )


class _TooComplex(Exception):
    """The pattern takes too long to analyse."""


class _Graph:
    """The states of an automaton and a start state, which loops in a search."""

    def __init__(self, states: Automaton, *, is_search: bool) -> None:
        self.reads = (*states.reads, ANY)
        start = len(states.reads)
        self.steps = (*states.steps, Counter([*states.first, *([start] if is_search else [])]))
        self.components = components([tuple(step) for step in self.steps])
        self.cyclic = [
            component for component in self.components if len(component) > 1 or self.steps[component[0]][component[0]]
        ]
        self.work = 0

    def is_exponential(self, component: tuple[int, ...]) -> bool:
        """Return whether one text leads from a state back to itself in two ways: exponential ambiguity."""
        members = set(component)
        if any(ways > 1 for state in component for after, ways in self.steps[state].items() if after in members):
            return True
        pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        pending = [(state, state) for state in component]
        while pending:
            pair = pending.pop()
            if pair not in pairs:
                pairs[pair] = [after for after in self._common_steps(*pair) if members.issuperset(after)]
                pending.extend(pairs[pair])
        numbers = {pair: number for number, pair in enumerate(pairs)}
        graph = [tuple(numbers[after] for after in group) for group in pairs.values()]
        places = list(pairs)
        for group in components(graph):
            alike = {places[number][0] == places[number][1] for number in group}
            if alike == {True, False}:
                return True
        return False

    def degree(self) -> int:
        """Return how many consecutive loops can divide one text among them, minus one: polynomial ambiguity."""
        rank: dict[int, int] = {}
        for number, later in enumerate(self.cyclic):  # components come last to first
            after = [rank[other] for other in range(number) if self._share_text(later, self.cyclic[other])]
            rank[number] = 1 + max(after) if after else 0
        return max(rank.values(), default=0)

    def _common_steps(self, first: int, second: int) -> list[tuple[int, int]]:
        self._add_work(len(self.steps[first]) * len(self.steps[second]))
        return [
            (after, beside)
            for after in self.steps[first]
            for beside in self.steps[second]
            if after == beside or self.reads[after].overlaps(self.reads[beside])
        ]

    def _share_text(self, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
        common = self._characters_of(before) & self._characters_of(after)
        if not common:
            return False
        states = {state for state, reads in enumerate(self.reads) if reads.overlaps(common)}
        self._add_work(len(self.reads))
        graph = [tuple(step for step in steps if step in states) for steps in self.steps]
        starts = [state for state in before if state in states and state in reachable(graph, graph[state])]
        ends = {state for state in after if state in states}
        return any(ends & reachable(graph, graph[state]) for state in starts)

    def _characters_of(self, component: tuple[int, ...]) -> CharacterSet:
        among = NOTHING
        for state in component:
            among |= self.reads[state]
        return among

    def _add_work(self, work: int) -> None:
        self.work += work
        if self.work > _MAX_STEPS:
            raise _TooComplex


def reachable(graph: Sequence[Sequence[int]], starts: Iterable[int]) -> set[int]:
    """Return the nodes that can be reached, including the starts."""
    visited = set(starts)
    pending = list(visited)
    while pending:
        fresh = set(graph[pending.pop()]) - visited
        visited |= fresh
        pending.extend(fresh)
    return visited


def components(graph: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the strongly connected components (Tarjan), each after those it leads to."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    pending: set[int] = set()
    result: list[tuple[int, ...]] = []
    for root in range(len(graph)):
        if root in order:
            continue
        path = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        pending.add(root)
        while path:
            node, steps = path[-1]
            step = next(steps, None)
            if step is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    group = tuple(stack[at:])
                    del stack[at:]
                    pending.difference_update(group)
                    result.append(group)
            elif step not in order:
                order[step] = low[step] = len(order)
                stack.append(step)
                pending.add(step)
                path.append((step, iter(graph[step])))
            elif step in pending:
                low[node] = min(low[node], order[step])
    return result


_Counts: TypeAlias = dict[int, int]
_MAX_STATE_SETS = 200
_MAX_COUNTING_STEPS = 150_000


def count_readings(states: Automaton, *, is_search: bool, length: int) -> int | None:
    """Return a bound for the ways to match any text of this length; None if it takes too long to compute."""
    subsets = StateSets(states, is_search=is_search)
    known: dict[StateSet, list[list[tuple[int, int]]]] = {}
    counts: dict[StateSet, _Counts] = {START: {BEFORE: 1}}
    most, work = 1, 0
    for _ in range(length):
        after: dict[StateSet, _Counts] = {}
        for here, count in counts.items():
            if here not in known:
                known[here] = subsets.transitions(here)
            for ways in known[here]:
                work += len(ways) + 1
                there: _Counts = {}
                for state, step in ways:
                    there[step] = there.get(step, 0) + count[state]
                _keep_maximum(after.setdefault(frozenset(there), there), there)
        if not subsets.alphabet or work > _MAX_COUNTING_STEPS:
            return None
        if len(after) > _MAX_STATE_SETS:
            after = _merge_counts(after)
        most = max([most, *(sum(count.values()) for count in after.values())])
        if after == counts:
            break
        counts = after
    return most


def _merge_counts(counts_by_states: dict[StateSet, _Counts]) -> dict[StateSet, _Counts]:
    """Merge the counts of all state sets; the result is an upper bound."""
    joined: _Counts = {}
    for count in counts_by_states.values():
        _keep_maximum(joined, count)
    return {frozenset(joined): joined}


def _keep_maximum(states: _Counts, other: _Counts) -> None:
    for state, count in other.items():
        if states.get(state, 0) < count:
            states[state] = count
