"""How long a value may be before Java's engine, which calls itself for each round of a loop, runs out of stack."""

from __future__ import annotations

from treaty.spark.patterns.automaton import Path
from treaty.spark.patterns.tree import Again, Either, Node, One, Then, lengths

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
