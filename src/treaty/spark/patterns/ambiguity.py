"""How many ways a backtracking engine may have to read one text, worked out from the states of a pattern."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import factorial

from treaty.spark.patterns.automaton import Automaton
from treaty.spark.patterns.characters import ANY, NOTHING, Characters
from treaty.spark.patterns.connecting import components, reachable
from treaty.spark.patterns.counting import readings

_MOST_WORK = 300_000
_SAMPLE, _LONG_SAMPLE = 30, 150  # the ways grow with the text only where there is a degree


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Ways to read a text of n characters: some `ways` × n to the power of `degree`, if not exponentially many."""

    exponential: bool
    degree: int = 0
    ways: int = 1


EXPONENTIAL = Ambiguity(exponential=True)


def ambiguity(states: Automaton, *, searched: bool) -> Ambiguity:
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
