"""How many readings of one text a pattern has at the same time."""

from __future__ import annotations

from typing import TypeAlias

from treaty.spark.patterns.automaton import Automaton
from treaty.spark.patterns.subsets import BEFORE, START, Here, Subsets

_Counts: TypeAlias = dict[int, int]
_MOST_SETS = 200
_MOST_WORK = 150_000


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
        if not subsets.alphabet or work > _MOST_WORK:
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
