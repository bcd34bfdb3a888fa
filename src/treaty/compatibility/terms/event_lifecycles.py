"""Compares the life cycles of event types: their stream, the moves of a key, and the invariants from event to event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.comparison import Difference, presence_direction
from treaty.contracts.event_lifecycles import Invariant, Lifecycle, Move
from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract

_NO_LIFECYCLE = Lifecycle("")


def stream(contract: Contract) -> str | None:
    """Return the stream of an event type."""
    lifecycle = contract.treaty.lifecycle
    return lifecycle.stream if lifecycle else None


def moves(contract: Contract) -> Mapping[str, Move] | None:
    """Return the moves of an event type by their path in the block; None without a life cycle."""
    lifecycle = contract.treaty.lifecycle
    if lifecycle is None:
        return None
    return {f"lifecycle.moves.{move.source or 'start'}": move for move in lifecycle.moves}


def invariants(contract: Contract) -> Mapping[str, Invariant]:
    """Return the invariants of an event type by their path in the block."""
    lifecycle = contract.treaty.lifecycle or _NO_LIFECYCLE
    return {f"lifecycle.invariants.{one.name}": one for one in lifecycle.invariants}


def meanings(contract: Contract) -> dict[str, Any]:
    """Return the explanations of invariants by path."""
    return {path: one.meaning for path, one in invariants(contract).items()}


def compare_moves(before: Mapping[str, Move] | None, after: Mapping[str, Move] | None) -> Iterator[Difference]:
    """Compare the moves of two life cycles: fewer tighten, more loosen, and none at all allow every state."""
    if before is None or after is None:
        return
    if not before or not after:
        if before or after:
            direction = Direction.LOOSENED if before else Direction.TIGHTENED
            yield Difference(direction, _listed(before), _listed(after), "lifecycle.moves")
        return
    for path in sorted(before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        if one is None or other is None:
            direction = Direction.LOOSENED if one is None else Direction.TIGHTENED
            yield Difference(direction, one and str(one), other and str(other), path)
        elif one != other:
            yield Difference(Direction.REPLACED, str(one), str(other), path)


def _listed(listed: Mapping[str, Move]) -> str:
    return ", ".join(sorted(map(str, listed.values()))) or "any state"


def compare_invariant(before: Invariant | None, after: Invariant | None) -> Iterator[Difference]:
    """Compare an invariant: a stricter severity tightens, other SQL replaces it."""
    if before is None or after is None:
        yield Difference(presence_direction(before, after), before and str(before), after and str(after))
    elif before.text != after.text:
        yield Difference(Direction.REPLACED, str(before), str(after))
    elif before.severity is not after.severity:
        direction = Direction.TIGHTENED if after.severity is Severity.ERROR else Direction.LOOSENED
        yield Difference(direction, str(before), str(after))
