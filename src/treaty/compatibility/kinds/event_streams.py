"""Life cycles of event types: the stream, the moves of a key, and the invariants from event to event."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, DATA, READERS, Grade, kind
from treaty.contracts.versions import Bump


@kind("contract.lifecycle", {Direction.ADDED: Grade(Bump.MINOR, caution=True)})
def lifecycle_declared(change: Change) -> str:
    """The contract now states which part its event type has in the life cycle of a key.

    Consumers benefit from it. Check existing events first: those that no move allows go to quarantine.

    Example: `ClassUpdated` moves a class from `published` to `updated`.
    """
    return f"life cycle declared in the stream {change.after}; check that existing events follow it"


@kind("contract.lifecycle", {Direction.REMOVED: Grade(Bump.MAJOR, READERS)})
def lifecycle_removed(change: Change) -> str:
    """The contract no longer states a life cycle.

    Why it hurts: consumers relied on the order of event types, such as an update only after a publication.

    Example: `lifecycle:` is removed because one publisher does not keep to it.

    Instead: allow the moves that are needed, and publish a MAJOR version with a migration window.
    """
    return f"life cycle in the stream {change.before} removed; events may occur in any state of their key"


@kind("contract.lifecycle", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def lifecycle_stream_changed(change: Change) -> str:
    """The event type is part of another stream.

    Why it hurts: it no longer moves the keys of the stream that it was part of, and is judged by the states of others.

    Example: `ClassCancelled` moves from the stream `class_schedule` to the stream `class_operations`.

    Instead: publish a new event type in the other stream, and retire this one.
    """
    return f"stream of the life cycle changed: {change.before} -> {change.after}"


@kind("contract.lifecycle_moves", {Direction.LOOSENED: Grade(Bump.MAJOR, READERS)})
def lifecycle_move_added(change: Change) -> str:
    """The event may occur in a state in which it could not occur before.

    Why it hurts: a consumer that follows the states of a key does not expect the event there.

    Example: `ClassUpdated` may follow `ClassCancelled`.

    Instead: publish a new event type for what happens there.
    """
    return f"the event may occur in more states: {_moves(change)}"


@kind("contract.lifecycle_moves", {Direction.TIGHTENED: Grade(Bump.MAJOR, DATA)})
def lifecycle_move_removed(change: Change) -> str:
    """The event may no longer occur in a state in which it could occur before.

    Why it hurts: publishers still send such events, and they now go to quarantine. Consumers see fewer cases.

    Example: `ClassCancelled` may no longer be the first event of a class.

    Instead: check that no event of the history does it.
    """
    return f"the event may occur in fewer states: {_moves(change)}"


@kind("contract.lifecycle_moves", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def lifecycle_target_changed(change: Change) -> str:
    """The event moves a key to another state than before.

    Why it hurts: consumers derive the state of a key from its events, and come to a state that is no longer true. Other
    event types that need the old state go to quarantine.

    Example: `ClassCancelled` moves a class to `archived` instead of `cancelled`.

    Instead: publish a new event type.
    """
    return f"the event moves its key to another state: {change.before}; now {change.after}"


@kind(
    "contract.lifecycle_invariants",
    {direction: Grade(Bump.MINOR, caution=True) for direction in (Direction.ADDED, Direction.TIGHTENED)},
)
def invariant_tightened(change: Change) -> str:
    """An invariant was added, or events that violate it are set apart instead of recorded.

    Consumers benefit from it. Check existing events first: those that violate an error go to quarantine.

    Example: `capacity_never_below_booked` is an error instead of a warning.
    """
    return f"invariant {_invariant(change)} is stricter: {change.before or 'none'} -> {change.after}"


@kind(
    "contract.lifecycle_invariants",
    {direction: Grade(Bump.MAJOR, READERS) for direction in (Direction.LOOSENED, Direction.REMOVED)},
)
def invariant_relaxed(change: Change) -> str:
    """An invariant was removed, or events that violate it are only recorded.

    Why it hurts: consumers do not check what the contract promised, and process such events as if it still held.

    Example: `sequence_without_gaps` is a warning instead of an error.

    Instead: agree on the change with the consumers, and publish a MAJOR version with a migration window.
    """
    return f"invariant {_invariant(change)} is relaxed: {change.before} -> {change.after or 'none'}"


@kind("contract.lifecycle_invariants", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def invariant_changed(change: Change) -> str:
    """The SQL of an invariant changed.

    Why it hurts: two conditions cannot be compared automatically, so the new one may promise less than the old one or
    refuse events that were accepted.

    Example: `current.capacity >= previous.booked` becomes `current.capacity >= 0`.

    Instead: add an invariant with a new name beside it, and remove the old one in the next MAJOR version.
    """
    return f"invariant {_invariant(change)} changed: {change.before} -> {change.after}"


def _moves(change: Change) -> str:
    """Return the move that was added or removed, or all moves if every state allows the event before or after."""
    if change.before is None or change.after is None:
        return str(change.after or change.before)
    return f"{change.before}; now {change.after}"


def _invariant(change: Change) -> str:
    return repr((change.subject or "").removeprefix("lifecycle.invariants."))
