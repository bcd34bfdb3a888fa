"""The state machine of a stream: which events a key may have next, and the first violation of a sequence of events.

An event that violates a move or an invariant of severity error is refused: it does not change the state of its key, and
the next event is compared with the last accepted one. The same rules in Spark SQL are in `spark/stream_rules.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from treaty.contracts.event_lifecycles import Invariant, Move
from treaty.contracts.findings import Severity
from treaty.contracts.frozen import lazy


class ViolationKind(StrEnum):
    """What an event violates; the values are ids of rules in quarantine and in certificates."""

    MOVE = "lifecycle.move"
    INVARIANT = "lifecycle.invariant"
    UNKNOWN_TYPE = "lifecycle.event_type"


@dataclass(frozen=True, slots=True)
class Violation:
    """Why an event is refused (severity error) or recorded (severity warning)."""

    kind: ViolationKind
    message: str
    severity: Severity = Severity.ERROR
    invariant: str | None = None

    @property
    def rule(self) -> str:
        """The id of the violated rule, with the name of the invariant."""
        return f"{self.kind}.{self.invariant}" if self.invariant else self.kind.value


@dataclass(frozen=True, slots=True)
class EventType:
    """An event type of a stream: its contract, its moves and its invariants."""

    name: str
    contract: str
    moves: tuple[Move, ...] = ()
    invariants: tuple[Invariant, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """One event of a key."""

    type: str
    sequence: Any = None
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """An event with the state of its key before and after it, and what it violates."""

    event: KeyEvent
    before: str | None
    after: str | None
    violations: tuple[Violation, ...] = ()

    @property
    def is_accepted(self) -> bool:
        """Whether the event violates nothing but warnings."""
        return all(violation.severity is not Severity.ERROR for violation in self.violations)


Holds: TypeAlias = Callable[[Invariant, KeyEvent | None, KeyEvent], bool | None]
"""Evaluates an invariant of an event and the accepted event of its key before it, if there is one."""


def _holds(invariant: Invariant, previous: KeyEvent | None, current: KeyEvent) -> bool | None:
    return True


@dataclass(frozen=True)
class StateMachine:
    """The states of the keys of a stream and the events that move keys between them."""

    stream: str
    event_types: tuple[EventType, ...]

    @lazy
    def _moves(self) -> Mapping[tuple[str, str | None], str]:
        """The targets of moves by event type and source; of contradictory moves, the first counts."""
        targets: dict[tuple[str, str | None], str] = {}
        for one in self.event_types:
            for move in one.moves:
                targets.setdefault((one.name, move.source), move.to)
        return targets

    @lazy
    def _types(self) -> Mapping[str, EventType]:
        return {one.name: one for one in self.event_types}

    @lazy
    def states(self) -> tuple[str, ...]:
        """All states: those that can be reached in the order of their distance from the start, then the others."""
        reached = self.reachable_states
        named = (name for one in self.event_types for move in one.moves for name in (move.source, move.to) if name)
        return tuple(dict.fromkeys((*reached, *named)))

    @lazy
    def reachable_states(self) -> tuple[str, ...]:
        """The states that some sequence of events leads to, nearest first."""
        found: dict[str, None] = {}
        pending: deque[str | None] = deque([None])
        while pending:
            source = pending.popleft()
            for (_, start), to in self._moves.items():
                if start == source and to not in found:
                    found[to] = None
                    pending.append(to)
        return tuple(found)

    @property
    def final_states(self) -> tuple[str, ...]:
        """The states that no event leaves for another state."""
        left = {source for (_, source), to in self._moves.items() if source != to}
        return tuple(state for state in self.states if state not in left)

    @lazy
    def ranks(self) -> Mapping[str, int]:
        """The place of each event type in a life: the distance of its nearest source from the start.

        Events of a key with the same sequence are ordered by it, then by the name of their type.
        """
        distance: dict[str | None, int] = {None: 0}
        pending: deque[str | None] = deque([None])
        while pending:
            source = pending.popleft()
            for (_, start), to in self._moves.items():
                if start == source and to not in distance:
                    distance[to] = distance[source] + 1
                    pending.append(to)
        last = len(distance)
        return {
            one.name: min((distance.get(move.source, last) for move in one.moves), default=last)
            for one in self.event_types
        }

    def find_type(self, name: str) -> EventType | None:
        """Return an event type of the stream by name."""
        return self._types.get(name)

    def allows(self, state: str | None, event_type: str) -> bool:
        """Return whether a key in a state may have an event of this type."""
        known = self._types.get(event_type)
        return known is not None and (not known.moves or (event_type, state) in self._moves)

    def next_state(self, state: str | None, event_type: str) -> str | None:
        """Return the state of a key after an event; an event that the state does not allow leaves it as it is."""
        return self._moves.get((event_type, state), state)

    def event_types_from(self, state: str | None) -> tuple[str, ...]:
        """Return the event types that a key in a state may have next."""
        return tuple(one.name for one in self.event_types if self.allows(state, one.name))

    def in_order(self, events: Iterable[KeyEvent]) -> list[KeyEvent]:
        """Return the events of a key in their order, whichever order they arrived in."""
        ranks = self.ranks
        return sorted(events, key=lambda one: (one.sequence, ranks.get(one.type, len(ranks)), one.type))

    def judge(self, events: Iterable[KeyEvent], holds: Holds = _holds) -> tuple[Judged, ...]:
        """Judge the events of one key, which are given in their order."""
        return tuple(self._judge(events, holds))

    def _judge(self, events: Iterable[KeyEvent], holds: Holds) -> Iterator[Judged]:
        state: str | None = None
        previous: KeyEvent | None = None
        for event in events:
            violations = tuple(self._violations(state, previous, event, holds))
            judged = Judged(event, state, self.next_state(state, event.type), violations)
            if judged.is_accepted:
                yield judged
                state, previous = judged.after, event
            else:
                yield Judged(event, state, state, violations)

    def first_violation(self, events: Iterable[KeyEvent], holds: Holds = _holds) -> tuple[int, Violation] | None:
        """Return the position and reason of the first violation of severity error, if there is one."""
        for position, judged in enumerate(self._judge(events, holds)):
            errors = [violation for violation in judged.violations if violation.severity is Severity.ERROR]
            if errors:
                return position, errors[0]
        return None

    def _violations(
        self, state: str | None, previous: KeyEvent | None, event: KeyEvent, holds: Holds
    ) -> Iterator[Violation]:
        known = self._types.get(event.type)
        if known is None:
            yield Violation(ViolationKind.UNKNOWN_TYPE, f"{event.type} is not an event type of {self.stream}")
            return
        if not self.allows(state, event.type):
            yield Violation(ViolationKind.MOVE, refused_move(known, state))
        for invariant in known.invariants:
            if holds(invariant, previous, event) is False:
                yield Violation(
                    ViolationKind.INVARIANT, broken_invariant(invariant), invariant.severity, invariant.name
                )


def refused_move(event_type: EventType, state: str | None) -> str:
    """Return why an event of a type is refused in a state of its key."""
    sources = [move.source for move in event_type.moves]
    allowed = _listed([source for source in sources if source])
    if state is None:
        return f"{event_type.name} is the first event of its key; it needs the state {allowed}"
    if not allowed:
        return f"{event_type.name} must be the first event of its key, which is {state}"
    return f"{event_type.name} needs the state {allowed}, and its key is {state}"


def broken_invariant(invariant: Invariant) -> str:
    """Return what an event violates: the meaning of the invariant, or its SQL."""
    return f"must hold: {invariant.meaning or invariant.text}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else " or ".join((", ".join(names[:-1]), names[-1])) if names else ""
