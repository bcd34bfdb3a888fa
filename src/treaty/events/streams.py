"""Streams: the event contracts that share keys, their order, and one life cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.event_lifecycles import Lifecycle
from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.events.state_machine import EventType, StateMachine


class ProblemKind(StrEnum):
    """What does not fit together in a stream."""

    ORDERING = "ordering"
    MOVES = "moves"
    FIELD_TYPE = "field_type"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not fit together in a stream, and the contract that it is about."""

    kind: ProblemKind
    contract: str
    message: str
    state: str | None = None


@dataclass(frozen=True)
class Stream:
    """The contracts of a stream, one for each event type."""

    name: str
    contracts: tuple[Contract, ...]

    @lazy
    def machine(self) -> StateMachine:
        """The state machine of all contracts."""
        return StateMachine(self.name, tuple(map(_event_type, self.contracts)))

    @lazy
    def ordering(self) -> tuple[tuple[str, ...], str] | None:
        """The key and the sequence of the events; None if the contracts guarantee no order."""
        for contract in self.contracts:
            ordering = contract.treaty.ordering
            if ordering is not None and ordering.key and ordering.sequence:
                return ordering.key, ordering.sequence
        return None

    @lazy
    def fields(self) -> Mapping[str, Field]:
        """The top-level fields of all event types by name: what `previous` has in invariants."""
        return {field.name: field for _, field in reversed(list(self._fields())) if field.name}

    def _fields(self) -> Iterator[tuple[Contract, Field]]:
        for contract in self.contracts:
            for schema in contract.schema[:1]:
                yield from ((contract, field) for field in schema.fields)

    @property
    def previous_object(self) -> SchemaObject:
        """An object with the fields of all event types, as an event before another one may have any type."""
        return SchemaObject("previous", properties=tuple(self.fields.values()))

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together: orderings, moves, types of fields, and states that nothing leads to."""
        yield from self._ordering_problems()
        yield from self._contradictions()
        for contract, field in self._fields():
            other = self.fields[field.name or ""]
            if field.type != other.type:
                message = f"{field.name} is {field.type} here and {other.type} in another contract of {self.name}"
                yield Problem(ProblemKind.FIELD_TYPE, contract.id, message)
        yield from self._unreachable_states()

    def _ordering_problems(self) -> Iterator[Problem]:
        for contract in self.contracts:
            ordering = contract.treaty.ordering
            own = (ordering.key, ordering.sequence) if ordering and ordering.key else None
            if self.ordering is not None and own is not None and own != self.ordering:
                message = (
                    f"is ordered by {_order_text(*own)}, and another contract of {self.name} by "
                    f"{_order_text(*self.ordering)}"
                )
                yield Problem(ProblemKind.ORDERING, contract.id, message)

    def _contradictions(self) -> Iterator[Problem]:
        """Yield moves of an event type that two contracts state with different targets."""
        stated: dict[tuple[str, str | None], tuple[str, str]] = {}
        for contract, one in zip(self.contracts, self.machine.event_types, strict=True):
            for move in one.moves:
                first, to = stated.setdefault((one.name, move.source), (contract.id, move.to))
                if to != move.to:
                    start = f"from {move.source}" if move.source else "as the first event of a key"
                    message = f"{one.name} {start} moves to {move.to} here and to {to} in {first}"
                    yield Problem(ProblemKind.MOVES, contract.id, message)

    def _unreachable_states(self) -> Iterator[Problem]:
        reached = set(self.machine.reachable_states)
        seen: set[str] = set()
        for contract, one in zip(self.contracts, self.machine.event_types, strict=True):
            for state in (name for move in one.moves for name in (move.source, move.to)):
                if state is not None and state not in reached and state not in seen:
                    seen.add(state)
                    message = f"no sequence of events of {self.name} leads to the state {state}"
                    yield Problem(ProblemKind.UNREACHABLE, contract.id, message, state)


def streams_of(contracts: Iterable[Contract]) -> dict[str, Stream]:
    """Return the streams of some contracts by name, each with its contracts in the order of their ids."""
    found: dict[str, list[Contract]] = {}
    for contract in contracts:
        lifecycle = contract.treaty.lifecycle
        if lifecycle is not None and contract.treaty.event is not None:
            found.setdefault(lifecycle.stream, []).append(contract)
    return {name: Stream(name, tuple(sorted(group, key=_sort_key))) for name, group in sorted(found.items())}


def _sort_key(contract: Contract) -> tuple[str, str]:
    return contract.id, contract.version


def _event_type(contract: Contract) -> EventType:
    event, lifecycle = contract.treaty.event, contract.treaty.lifecycle or Lifecycle("")
    return EventType(event.type if event else contract.id, contract.id, lifecycle.moves, lifecycle.invariants)


def _order_text(key: tuple[str, ...], sequence: str | None) -> str:
    return f"{', '.join(key)} in {sequence}" if sequence else ", ".join(key)
