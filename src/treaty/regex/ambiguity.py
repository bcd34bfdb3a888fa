"""How many ways a backtracking engine may have to read one text, worked out from the states of a pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import factorial
from typing import TypeAlias

from treaty.regex.automaton import BEFORE, START, Automaton, Here, Subsets
from treaty.regex.character_sets import ANY, NOTHING, Characters

_MOST_WORK = 300_000
_SAMPLE, _LONG_SAMPLE = 30, 150  # the ways grow with the text only where there is a degree


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Ways to read a text of n characters: some `ways` × n to the power of `degree`, if not exponentially many."""

    exponential: bool
    degree: int = 0
    ways: int = 1


EXPONENTIAL = Ambiguity(exponential=True)


def measure_ambiguity(states: Automaton, *, searched: bool) -> Ambiguity:
    """Return how many ways there are; `searched` patterns are tried from every character of the text."""
    if states.idle_loops:
        return EXPONENTIAL
    graph = _Graph(states, searched=searched)
    try:
        if any(graph.reads_twice(component) for component in graph.cyclic):
            return EXPONENTIAL
        degree = graph.degree()
    except _TooIntricate:
        return EXPONENTIAL
    length = _LONG_SAMPLE if degree == 0 else _SAMPLE
    found = readings(states, searched=searched, length=length)
    if found is None:
        return EXPONENTIAL
    return Ambiguity(exponential=False, degree=degree, ways=max(1, round(found * factorial(degree) / length**degree)))


class _TooIntricate(Exception):
    """The pattern would take too long to judge."""


class _Graph:
    """The states of a pattern with one before them, which stands for the tries from every character."""

    def __init__(self, states: Automaton, *, searched: bool) -> None:
        self.reads = (*states.reads, ANY)
        start = len(states.reads)
        self.steps = (*states.steps, Counter([*states.first, *([start] if searched else [])]))
        self.components = components([tuple(step) for step in self.steps])
        self.cyclic = [found for found in self.components if len(found) > 1 or self.steps[found[0]][found[0]]]
        self.work = 0

    def reads_twice(self, component: tuple[int, ...]) -> bool:
        """Tell whether one text leads from a state back to itself in two ways."""
        members = set(component)
        if any(ways > 1 for state in component for after, ways in self.steps[state].items() if after in members):
            return True
        pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        pending = [(state, state) for state in component]
        while pending:
            pair = pending.pop()
            if pair not in pairs:
                pairs[pair] = [after for after in self._both(*pair) if members.issuperset(after)]
                pending.extend(pairs[pair])
        numbers = {pair: number for number, pair in enumerate(pairs)}
        graph = [tuple(numbers[after] for after in found) for found in pairs.values()]
        places = list(pairs)
        for found in components(graph):
            alike = {places[number][0] == places[number][1] for number in found}
            if alike == {True, False}:
                return True
        return False

    def degree(self) -> int:
        """Return how many loops in a row can share a text, beyond the first."""
        rank: dict[int, int] = {}
        for number, later in enumerate(self.cyclic):  # components come last to first
            after = [rank[other] for other in range(number) if self._share(later, self.cyclic[other])]
            rank[number] = 1 + max(after) if after else 0
        return max(rank.values(), default=0)

    def _both(self, one: int, other: int) -> list[tuple[int, int]]:
        self._count(len(self.steps[one]) * len(self.steps[other]))
        return [
            (after, beside)
            for after in self.steps[one]
            for beside in self.steps[other]
            if after == beside or self.reads[after].overlaps(self.reads[beside])
        ]

    def _share(self, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
        common = self._read_by(before) & self._read_by(after)
        if not common:
            return False
        kept = {state for state, reads in enumerate(self.reads) if reads.overlaps(common)}
        self._count(len(self.reads))
        graph = [tuple(step for step in steps if step in kept) for steps in self.steps]
        starts = [state for state in before if state in kept and state in reachable(graph, graph[state])]
        ends = {state for state in after if state in kept}
        return any(ends & reachable(graph, graph[state]) for state in starts)

    def _read_by(self, component: tuple[int, ...]) -> Characters:
        among = NOTHING
        for state in component:
            among |= self.reads[state]
        return among

    def _count(self, work: int) -> None:
        self.work += work
        if self.work > _MOST_WORK:
            raise _TooIntricate


def reachable(graph: Sequence[Sequence[int]], starts: Iterable[int]) -> set[int]:
    """Return the nodes that can be reached, the starts with them."""
    found = set(starts)
    pending = list(found)
    while pending:
        fresh = set(graph[pending.pop()]) - found
        found |= fresh
        pending.extend(fresh)
    return found


def components(graph: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the nodes in groups that reach each other; a group comes after those it leads to."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in range(len(graph)):
        if root in order:
            continue
        path = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        waiting.add(root)
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
                    waiting.difference_update(group)
                    found.append(group)
            elif step not in order:
                order[step] = low[step] = len(order)
                stack.append(step)
                waiting.add(step)
                path.append((step, iter(graph[step])))
            elif step in waiting:
                low[node] = min(low[node], order[step])
    return found


_Counts: TypeAlias = dict[int, int]
_MOST_SETS = 200
_MOST_WORK_COUNTING = 150_000


def readings(states: Automaton, *, searched: bool, length: int) -> int | None:
    """Return a bound of the readings of any text of that length, or None where that is too much to work out."""
    subsets = Subsets(states, searched=searched)
    known: dict[Here, list[list[tuple[int, int]]]] = {}
    counts: dict[Here, _Counts] = {START: {BEFORE: 1}}
    most, work = 1, 0
    for _ in range(length):
        after: dict[Here, _Counts] = {}
        for here, count in counts.items():
            if here not in known:
                known[here] = subsets.ways(here)
            for ways in known[here]:
                work += len(ways) + 1
                there: _Counts = {}
                for state, step in ways:
                    there[step] = there.get(step, 0) + count[state]
                _keep_larger(after.setdefault(frozenset(there), there), there)
        if not subsets.alphabet or work > _MOST_WORK_COUNTING:
            return None
        if len(after) > _MOST_SETS:
            after = _joined(after)
        most = max([most, *(sum(count.values()) for count in after.values())])
        if after == counts:
            break
        counts = after
    return most


def _joined(found: dict[Here, _Counts]) -> dict[Here, _Counts]:
    """Return the counts as if the pattern were in all its states at once: never fewer."""
    joined: _Counts = {}
    for count in found.values():
        _keep_larger(joined, count)
    return {frozenset(joined): joined}


def _keep_larger(kept: _Counts, other: _Counts) -> None:
    for state, count in other.items():
        if kept.get(state, 0) < count:
            kept[state] = count
