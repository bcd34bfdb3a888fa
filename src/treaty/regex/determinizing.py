"""Rewrite a pattern so that every text has one reading: through a small deterministic machine and back."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.regex.automaton import START, Automaton, Subsets
from treaty.regex.character_sets import NOTHING, Characters, characters
from treaty.regex.simplification import again, either, one, then
from treaty.regex.tree import EMPTY, NEVER, Node, inside

_MOST_STATES = 40
_MOST_NODES = 800


@dataclass(frozen=True, slots=True)
class _Machine:
    """States by number, the first is the start; each step reads one of several characters."""

    steps: tuple[dict[int, Characters], ...]
    accepting: frozenset[int]


def one_reading(states: Automaton, *, searched: bool, to_the_end: bool) -> Node | None:
    """Return a pattern that matches the same from the start of a text, in one way each; None if it would be large."""
    subsets = Subsets(states, searched=searched)
    machine = _machine(subsets, to_the_end=to_the_end) if subsets.alphabet else None
    return _written(_smallest(machine)) if machine else None


def _machine(subsets: Subsets, *, to_the_end: bool) -> _Machine | None:
    numbers = {START: 0}
    steps: list[dict[int, Characters]] = []
    pending = [START]
    for here in pending:
        if len(numbers) > _MOST_STATES:
            return None
        steps.append({})
        if not to_the_end and subsets.accepts(here):
            continue  # found: the rest of the text does not matter
        for among, ways in zip(subsets.alphabet, subsets.ways(here), strict=True):
            there = frozenset(step for _, step in ways)
            if not there:
                continue
            if there not in numbers:
                numbers[there] = len(numbers)
                pending.append(there)
            steps[-1][numbers[there]] = steps[-1].get(numbers[there], NOTHING) | among
    return _Machine(tuple(steps), frozenset(numbers[here] for here in pending if subsets.accepts(here)))


def _smallest(machine: _Machine) -> _Machine:
    """Return the machine with states that accept the same put together, and states that lead nowhere dropped."""
    group = [int(state in machine.accepting) for state in range(len(machine.steps))]
    while True:
        views = [(group[state], _view(steps, group)) for state, steps in enumerate(machine.steps)]
        numbers = {view: number for number, view in enumerate(dict.fromkeys(views))}
        fresh = [numbers[view] for view in views]
        if fresh == group or len(numbers) == len(set(group)):
            break
        group = fresh
    group = fresh
    steps: list[dict[int, Characters]] = [{} for _ in numbers]
    for state, found in enumerate(machine.steps):
        steps[group[state]] = dict(_view(found, group))
    return _Machine(tuple(steps), frozenset(group[state] for state in machine.accepting))


def _view(steps: dict[int, Characters], group: list[int]) -> frozenset[tuple[int, Characters]]:
    joined: dict[int, list[tuple[int, int]]] = {}
    for step, among in steps.items():
        joined.setdefault(group[step], []).extend(among.ranges)
    return frozenset((number, characters(ranges)) for number, ranges in joined.items())


def _written(machine: _Machine) -> Node | None:
    """Take the states out one by one; what they did stands on the steps around them."""
    start, end = -1, -2
    edges: dict[tuple[int, int], Node] = {(start, 0): EMPTY}
    for state, steps in enumerate(machine.steps):
        edges.update({(state, step): one(among) for step, among in steps.items()})
    edges.update({(state, end): EMPTY for state in machine.accepting})
    left = set(range(len(machine.steps)))
    while left:
        state = min(left, key=lambda number: (_weight(edges, number), number))
        left.remove(state)
        loop = again(edges.pop((state, state), NEVER), 0, None)
        into = {before: edges.pop((before, after)) for before, after in list(edges) if after == state}
        onward = {after: edges.pop((before, after)) for before, after in list(edges) if before == state}
        for before, arriving in into.items():
            for after, leaving in onward.items():
                through = then((arriving, loop, leaving))
                edges[before, after] = either((edges.get((before, after), NEVER), through))
        if sum(sum(1 for _ in inside(node)) for node in edges.values()) > _MOST_NODES:
            return None
    return edges.get((start, end), NEVER)


def _weight(edges: dict[tuple[int, int], Node], state: int) -> int:
    into = [node for (before, after), node in edges.items() if after == state != before]
    onward = [node for (before, after), node in edges.items() if before == state != after]
    return sum(len(onward) for _ in into) + sum(1 for node in (*into, *onward) for _ in inside(node))
