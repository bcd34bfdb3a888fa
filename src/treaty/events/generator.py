"""Generate conforming streams of events from contracts: life cycle, order, rules, invariants, reproducible values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Any

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.events.checks import CheckTarget, identity_of
from treaty.events.event_conditions import Condition, ConditionLog, conditions_of
from treaty.events.event_times import event_time_field
from treaty.events.event_values import EventValues, fits, is_zoned, stored_name
from treaty.events.state_machine import StateMachine
from treaty.events.streams import ProblemKind, Stream, streams_of

DEFAULT_START = datetime(2026, 1, 1, tzinfo=UTC)
MAX_EVENTS = 1_000_000
_LONGEST_SPAN = timedelta(days=30)
_MAX_INTERVAL = timedelta(minutes=1)
_OPEN_KEYS = 40
_NEW_KEY_SHARE = 0.3
_LAST_EVENT_SHARE = 0.35
_CARRIED_SHARE = 0.85
_MAX_REPAIRS = 200
_MAX_DRAWS = 5
_KEY_ATTEMPTS = 100


@dataclass(frozen=True)
class GenerationOptions:
    """How many events are generated, from which seed, when they occur, and how many optional values are null."""

    count: int = 1_000
    seed: str = ""
    start: datetime = DEFAULT_START
    interval: timedelta | None = None
    null_share: float = 0.2

    @property
    def step(self) -> timedelta:
        """The time between two events: a minute, or less for streams of more than 30 days."""
        return self.interval if self.interval is not None else min(_MAX_INTERVAL, _LONGEST_SPAN / max(self.count, 1))


@dataclass(frozen=True)
class GeneratedEvent:
    """An event as it is sent: its values by stored name, or the text that a violation made of them."""

    id: str
    type: str
    values: Mapping[str, Any]
    sent_at: datetime
    key: str
    """The values of the key as text."""
    contract: int
    """The number of the contract."""
    partition_key: str = ""
    payload: str | None = None
    state: str | None = None
    """The state of the key after the event."""


class EventShape:
    """What is known of the events of one contract: fields, key, sequence, time and conditions."""

    def __init__(self, number: int, contract: Contract, stream: Stream | None) -> None:
        if not contract.schema or not contract.schema[0].fields:
            raise InvalidDocument(f"{contract.id} has no fields, so no events can be generated")
        self.number, self.contract, self.stream = number, contract, stream
        self.schema: SchemaObject = contract.schema[0]
        self.type = contract.treaty.event.type if contract.treaty.event else contract.id
        self.target = CheckTarget(contract, stream)
        self.fields: dict[str, Field] = {stored_name(one): one for one in self.schema.fields}
        self.conditions: tuple[Condition, ...] = conditions_of(contract, self.schema, stream)
        time = event_time_field(contract)
        self.time = stored_name(time) if time is not None else None

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The stored names of the identity."""
        return tuple(self._stored(name) for name in identity_of(self.target))

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The stored names of the fields that all events of a key share."""
        return tuple(map(self._stored, self.target.ordering[0])) if self.target.ordering else self.identity

    @cached_property
    def sequence(self) -> str | None:
        """The stored name of the sequence."""
        return self._stored(self.target.ordering[1]) if self.target.ordering else None

    @property
    def pinned(self) -> frozenset[str]:
        """The fields whose values follow from the place of the event in the stream."""
        return frozenset(name for name in (*self.key, self.sequence, self.time) if name is not None)

    @property
    def condition_fields(self) -> frozenset[str]:
        """The top-level fields that rules and invariants of the event type read."""
        return frozenset(path[0] for condition in self.conditions for path in condition.paths)

    def _stored(self, name: str) -> str:
        found = next((one for one in self.schema.fields if one.name == name), None)
        if found is None:
            known = ", ".join(str(one.name) for one in self.schema.fields)
            raise InvalidDocument(f"{self.contract.id} is ordered by {name!r}, which is not one of its fields: {known}")
        return stored_name(found)


@dataclass
class KeyHistory:
    """The events of one key so far."""

    number: int
    values: dict[str, Any] = field(default_factory=dict)
    state: str | None = None
    events: int = 0
    previous: dict[str, Any] | None = None
    sequence: Any = None


class EventComposer:
    """Composes the values of events so that all conditions hold."""

    def __init__(self, values: EventValues) -> None:
        self.values, self.random = values, values.random
        self.log = ConditionLog({})

    def compose(self, shape: EventShape, history: KeyHistory, at: datetime) -> dict[str, Any]:
        """Return the values of the next event of a key."""
        for _ in range(_MAX_DRAWS):
            drawn = self._draw(shape, history, at)
            broken = self.repair(shape, drawn, history.previous, at)
            if not broken:
                return drawn
        condition = broken[0]
        raise InvalidDocument(
            f"no values were found that satisfy the {condition.origin.value} {condition.name} of {shape.contract.id}: "
            f"{condition.expression.text}"
        )

    def _draw(self, shape: EventShape, history: KeyHistory, at: datetime) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        previous = history.previous or {}
        for name, one in shape.fields.items():
            if name in history.values:
                drawn[name] = history.values[name]
            elif name == shape.time:
                drawn[name] = at if is_zoned(one) else at.replace(tzinfo=None)
            elif name == shape.sequence:
                drawn[name] = history.sequence
            elif previous.get(name) is not None and not one.unique and self.random.random() < _CARRIED_SHARE:
                drawn[name] = deepcopy(previous[name])
            else:
                drawn[name] = self.values.draw(one, at)
        return drawn

    def repair(
        self, shape: EventShape, drawn: dict[str, Any], previous: Mapping[str, Any] | None, at: datetime
    ) -> list[Condition]:
        """Change values until all conditions hold; return the conditions that still do not."""
        broken = self.log.broken(shape.conditions, drawn, previous)
        for _ in range(_MAX_REPAIRS):
            if not broken:
                break
            self.change(shape, self.random.choice(broken), drawn, previous, at)
            broken = self.log.broken(shape.conditions, drawn, previous)
        return broken

    def change(
        self,
        shape: EventShape,
        condition: Condition,
        drawn: dict[str, Any],
        previous: Mapping[str, Any] | None,
        at: datetime,
    ) -> None:
        """Give one field that a condition reads another value: one near a value that it is compared with, or any."""
        free = [path for path in condition.paths if path[0] in shape.fields and path[0] not in shape.pinned]
        if not free:
            return
        path = self.random.choice(free)
        compared = condition.expression.compared(condition.row(drawn, previous))
        sides = [
            value
            for name, found in compared.items()
            if condition.is_own(name)
            for value in found
            if condition.own_path(name) == path
        ]
        target = shape.fields[path[0]]
        holder: dict[str, Any] = drawn
        for name in path[1:]:
            inside = holder.get(stored_name(target))
            child = next((one for one in target.properties or () if stored_name(one) == name), None)
            if not isinstance(inside, dict) or child is None:
                return
            holder, target = inside, child
        if sides and self.random.random() < 0.7:
            near = self._near(self.random.choice(sides), holder.get(path[-1]), target)
            holder[path[-1]] = near if fits(target, near) else self.values.draw(target, at)
        else:
            holder[path[-1]] = self.values.draw(target, at)

    def _near(self, value: Any, old: Any, target: Field) -> Any:
        """Return a value that is equal to, below or above another one, in the type of the field."""
        direction = self.random.choice((-1, 0, 1))
        if isinstance(value, datetime):
            moved = value + direction * timedelta(minutes=15 * self.random.randint(1, 12))
            return moved if is_zoned(target) else moved.replace(tzinfo=None)
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            return deepcopy(value)
        moved_number = value + direction * self.random.randint(1, 3)
        return type(old)(moved_number) if isinstance(old, (int, float, Decimal)) else int(moved_number)


class _Group:
    """The contracts that share keys: those of a stream, or a single one."""

    def __init__(self, shapes: Sequence[EventShape], machine: StateMachine | None) -> None:
        self.shapes, self.machine = {one.type: one for one in shapes}, machine
        self.open: list[KeyHistory] = []
        self.keys = 0
        self.seen: set[str] = set()
        first = shapes[0]
        self.has_histories = machine is not None or first.target.ordering is not None
        if machine is not None and not machine.event_types_from(None):
            names = ", ".join(self.shapes)
            raise InvalidDocument(
                f"{names} cannot be the first event of a key in the stream {machine.stream}; "
                "name the contracts of all its event types"
            )

    def types_after(self, state: str | None, events: int) -> list[str]:
        """Return the event types that a key may have next; one without moves starts a key only if all are so."""
        if self.machine is None:
            return list(self.shapes)
        allowed = list(self.machine.event_types_from(state))
        moving = [name for name in allowed if (found := self.machine.find_type(name)) and found.moves]
        return allowed if events or not moving else moving


class EventGenerator:
    """Generates the events of some contracts."""

    def __init__(self, contracts: Sequence[Contract], options: GenerationOptions) -> None:
        if not 1 <= options.count <= MAX_EVENTS:
            raise InvalidDocument(f"between 1 and {MAX_EVENTS:,} events can be generated, not {options.count:,}")
        streams = streams_of(contracts)
        _refuse_problems(streams.values())
        by_contract = {id(contract): stream for stream in streams.values() for contract in stream.contracts}
        self.options = options
        self.random = Random(f"{options.seed}/{'/'.join(sorted(one.id for one in contracts))}")  # noqa: S311 - test data
        self.composer = EventComposer(EventValues(self.random, options.null_share))
        self.shapes = [EventShape(number, one, by_contract.get(id(one))) for number, one in enumerate(contracts)]
        names = [shape.type for shape in self.shapes]
        if doubled := [name for name in names if names.count(name) > 1]:
            raise InvalidDocument(f"two of the contracts are about {doubled[0]}; name one contract for each event type")
        self._groups = [
            *(
                _Group([one for one in self.shapes if one.stream is stream], stream.machine)
                for stream in streams.values()
            ),
            *(_Group([one], None) for one in self.shapes if one.stream is None),
        ]

    @property
    def unevaluated(self) -> Mapping[str, str]:
        """Rules and invariants that events may violate, because only Spark can evaluate them, with the reasons."""
        return self.composer.log.reasons

    def generate(self) -> list[GeneratedEvent]:
        """Return the events in the order in which they are sent."""
        weights = [len(group.shapes) for group in self._groups]
        events: list[GeneratedEvent] = []
        at = self.options.start
        while len(events) < self.options.count:
            group = self.random.choices(self._groups, weights)[0]
            events.append(self._next(group, at))
            at += self.options.step
        return events

    def _next(self, group: _Group, at: datetime) -> GeneratedEvent:
        is_new = not group.open or (len(group.open) < _OPEN_KEYS and self.random.random() < _NEW_KEY_SHARE)
        history = self._start(group) if is_new else self.random.choice(group.open)
        name = self.random.choice(group.types_after(history.state, history.events))
        event = self.append(group.shapes[name], history, at)
        ended = not group.has_histories or not group.types_after(history.state, history.events)
        if group.machine is None and self.random.random() < _LAST_EVENT_SHARE:
            ended = True
        if ended and not is_new:
            group.open.remove(history)
        elif is_new and not ended:
            group.open.append(history)
        return event

    def append(self, shape: EventShape, history: KeyHistory, at: datetime) -> GeneratedEvent:
        """Return the next event of a key, and add it to the history."""
        history.sequence = next_sequence(shape, history, at)
        values = self.composer.compose(shape, history, at)
        machine = shape.stream.machine if shape.stream is not None else None
        if machine is not None:
            history.state = machine.next_state(history.state, shape.type)
        history.events += 1
        history.previous = values
        key = key_text(shape, values)
        identity = f"{key}/{history.events}"
        return GeneratedEvent(identity, shape.type, values, at, key, shape.number, key, None, history.state)

    def _start(self, group: _Group) -> KeyHistory:
        """Return the history of a new key; all event types of a stream have the same key."""
        shape = next(iter(group.shapes.values()))
        for _ in range(_KEY_ATTEMPTS):
            history = KeyHistory(group.keys)
            group.keys += 1
            for name in shape.key:
                history.values[name] = self.composer.values.identifier(shape.fields[name], history.number)
            key = key_text(shape, history.values) if shape.key else str(history.number)
            if key not in group.seen:
                group.seen.add(key)
                return history
        raise InvalidDocument(
            f"{shape.contract.id} allows only {len(group.seen)} keys of {', '.join(shape.key)}; generate fewer events"
        )


def _refuse_problems(streams: Any) -> None:
    for stream in streams:
        for problem in stream.problems():
            if problem.kind is not ProblemKind.UNREACHABLE:
                raise InvalidDocument(f"{problem.contract}: {problem.message}")


def next_sequence(shape: EventShape, history: KeyHistory, at: datetime) -> Any:
    """Return the sequence of the next event of a key: counted, or the time if it is one."""
    if shape.sequence is None:
        return None
    target = shape.fields[shape.sequence]
    kind = target.type.name if target.type else "string"
    if kind == "timestamp":
        return at if is_zoned(target) else at.replace(tzinfo=None)
    if kind in ("integer", "number"):
        if history.sequence is not None:
            return history.sequence + 1
        low = (target.options or EMPTY).get("minimum")
        return int(low) if isinstance(low, (int, float)) and not isinstance(low, bool) else 1
    if kind == "string":
        return f"{history.events + 1:08}"
    raise InvalidDocument(
        f"{shape.contract.id} is ordered by {shape.sequence}, a {kind}; events need a number, time or text"
    )


def key_text(shape: EventShape, values: Mapping[str, Any]) -> str:
    """Return the key of an event as text."""
    return "/".join(str(values.get(name)) for name in shape.key)
