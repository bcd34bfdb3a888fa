"""How many readings of one text a pattern has at the same time."""

from __future__ import annotations

from collections import Counter
from functools import reduce

from treaty.spark.patterns.automaton import Automaton
from treaty.spark.patterns.subsets import BEFORE, START, Here, Subsets

_MOST_SETS = 200
_MOST_WORK = 300_000


def readings(states: Automaton, *, searched: bool, length: int) -> int | None:
    """Return a bound of the readings of any text of that length, or None where that is too much to work out."""
    subsets = Subsets(states, searched=searched)
    known: dict[Here, list[list[tuple[int, int]]]] = {}
    counts: dict[Here, Counter[int]] = {START: Counter([BEFORE])}
    most, work = 1, 0
    for _ in range(length):
        after: dict[Here, Counter[int]] = {}
        for here, count in counts.items():
            if here not in known:
                known[here] = subsets.ways(here)
                work += len(known[here]) * len(here)
            for ways in known[here]:
                work += len(ways)
                there: Counter[int] = Counter()
                for state, step in ways:
                    there[step] += count[state]
                after[frozenset(there)] = after.get(frozenset(there), Counter()) | there  # the larger, state by state
        if not subsets.alphabet or work > _MOST_WORK:
            return None
        if len(after) > _MOST_SETS:  # as if the pattern were in all of them at once
            joined = reduce(lambda one, other: one | other, after.values())
            after = {frozenset(joined): joined}
        most = max([most, *(sum(count.values()) for count in after.values())])
        if after == counts:
            break
        counts = after
    return most
