"""Make generated streams violate one check each, so that consumers and certification can be tried without a publisher.

A violation changes a few keys, each key for one check only, and nothing that another check would find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeAlias

from treaty.contracts.findings import Severity
from treaty.contracts.quantities import parse_seconds
from treaty.errors import InvalidDocument
from treaty.events.checks import CheckId, applicable_checks, states_time_zone
from treaty.events.cloud_events import render_payload
from treaty.events.event_conditions import Condition, Origin
from treaty.events.event_values import stored_name
from treaty.events.exclusions import excluded_words, find_excluded
from treaty.events.generator import EventGenerator, EventShape, GeneratedEvent, KeyHistory

_SHARE_OF_KEYS = 50
_ATTEMPTS = 400
_AHEAD = timedelta(days=36_500)
_UNDECLARED = ("surplus", "addendum", "leftover", "oddment")
_WORD = re.compile(r"[A-Za-z]+")


class CannotViolate(Exception):
    """Raised if the contracts leave no room for a violation."""


@dataclass
class _Work:
    """A generated stream that is changed, and which keys were changed already."""

    generator: EventGenerator
    events: list[GeneratedEvent]
    random: Random
    used: set[str] = field(default_factory=set)

    def shape(self, event: GeneratedEvent) -> EventShape:
        return self.generator.shapes[event.contract]

    def keys(self) -> Iterator[tuple[str, list[int]]]:
        """Yield unused keys with the positions of their events, in the order of their first events."""
        places: dict[str, list[int]] = {}
        for place, event in enumerate(self.events):
            places.setdefault(event.key, []).append(place)
        yield from ((key, found) for key, found in places.items() if key not in self.used)

    def insert(self, place: int, event: GeneratedEvent) -> None:
        self.events.insert(place, event)

    def change(self, place: int, values: Mapping[str, Any]) -> None:
        self.events[place] = replace(self.events[place], values=values)

    def previous(self, places: Sequence[int]) -> Mapping[str, Any] | None:
        """Return the values of the last event but one of a key."""
        return self.events[places[-2]].values if len(places) > 1 else None


_Violate: TypeAlias = Callable[[_Work, list[int]], bool]
"""Makes the events of one key violate a check; returns whether it could."""


def violate(
    generator: EventGenerator, events: Sequence[GeneratedEvent], checks: Sequence[CheckId]
) -> list[GeneratedEvent]:
    """Return the events with deliberate violations of some checks."""
    work = _Work(generator, list(events), Random(f"{generator.options.seed}/violations"))  # noqa: S311 - test data
    for check in sorted(set(checks), key=lambda one: (one is CheckId.LATENCY, list(CheckId).index(one))):
        _refuse_inapplicable(generator, check)
        if check is CheckId.LATENCY:
            _delay_all(work)
        else:
            _violate_keys(work, check)
    return work.events


def _refuse_inapplicable(generator: EventGenerator, check: CheckId) -> None:
    targets = [replace(shape.target, has_partitions=True) for shape in generator.shapes]
    reasons = [applicable_checks(target)[check] for target in targets]
    if all(reasons):
        raise InvalidDocument(f"{check.value} cannot be violated: {reasons[0]}")


def _violate_keys(work: _Work, check: CheckId) -> None:
    wanted = max(1, len({event.key for event in work.events}) // _SHARE_OF_KEYS)
    done = 0
    for key, _ in list(work.keys()):
        places = [place for place, event in enumerate(work.events) if event.key == key]
        if _VIOLATIONS[check](work, places):
            work.used.add(key)
            done += 1
        if done == wanted:
            return
    if not done:
        raise InvalidDocument(
            f"no key of {len(work.events):,} generated events can violate {check.value} and nothing else; "
            "generate more events, or check that the contract leaves room for it"
        )


def _unreadable(work: _Work, places: list[int]) -> bool:
    """Add a record that is cut off."""
    event = work.events[places[-1]]
    text = render_payload(event)
    work.insert(places[-1] + 1, replace(event, id=f"{event.id}/cut", payload=text[: len(text) * 2 // 3]))
    return True


def _wrong_field(work: _Work, places: list[int]) -> bool:
    """Leave out a required field, or give one a value of another type or one that is not allowed."""
    event = work.events[places[-1]]
    shape = work.shape(event)
    free = [one for name, one in shape.fields.items() if name not in shape.pinned | shape.condition_fields]
    others = [one for name, one in shape.fields.items() if name not in shape.pinned and one not in free]
    for one in (*free, *others):
        if one.is_required:
            work.change(places[-1], {**event.values, stored_name(one): None})
            return True
    for one in free:
        if (
            one.type is not None and one.type.name in ("integer", "number", "boolean", "date", "timestamp")
        ) or one.enum:
            work.change(places[-1], {**event.values, stored_name(one): "not a value"})
            return True
    return False


def _without_offset(work: _Work, places: list[int]) -> bool:
    """Write a timestamp without its offset."""
    event = work.events[places[-1]]
    shape = work.shape(event)
    zoned = [name for name, one in shape.fields.items() if states_time_zone(one) and event.values.get(name) is not None]
    for name in sorted(zoned, key=lambda name: name in shape.pinned):
        work.change(places[-1], {**event.values, name: event.values[name].replace(tzinfo=None)})
        return True
    return False


def _broken_condition(origin: Origin) -> _Violate:
    """Return a violation of one condition of the last event of a key, with all others kept."""

    def apply(work: _Work, places: list[int]) -> bool:
        event, previous = work.events[places[-1]], work.previous(places)
        shape = work.shape(event)
        candidates = [
            one for one in shape.conditions if one.origin is origin and one.severity is Severity.ERROR and one.paths
        ]
        for condition in candidates:
            values = _break(work, shape, condition, event, previous)
            if values is not None:
                work.change(places[-1], values)
                return True
        return False

    return apply


def _break(
    work: _Work, shape: EventShape, condition: Condition, event: GeneratedEvent, previous: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    composer = work.generator.composer
    for _ in range(_ATTEMPTS):
        values = deepcopy(dict(event.values))
        for _ in range(work.random.randint(1, 3)):
            composer.change(shape, condition, values, previous, event.sent_at)
        if composer.log.broken(shape.conditions, values, previous) == [condition]:
            return values
    return None


def _undeclared_field(work: _Work, places: list[int]) -> bool:
    """Add a field that the contract does not declare."""
    event = work.events[places[-1]]
    contract = work.shape(event).contract
    if contract.treaty.content != "closed":
        return False
    excluded = excluded_words(contract)
    free = (name for name in _UNDECLARED if name not in event.values and find_excluded(name, excluded) is None)
    if (name := next(free, None)) is None:
        return False
    work.change(places[-1], {**event.values, name: "not declared"})
    return True


def _excluded_field(work: _Work, places: list[int]) -> bool:
    """Add a field that is named after an exclusion."""
    event = work.events[places[-1]]
    for known in excluded_words(work.shape(event).contract):
        words = [word.lower() for word in _WORD.findall(known.exclusion.what)]
        name = "".join(word if not place else word.capitalize() for place, word in enumerate(words))
        if name and name not in event.values:
            work.change(places[-1], {**event.values, name: "excluded by the contract"})
            return True
    return False


def _without_identity(work: _Work, places: list[int]) -> bool:
    """Add an event without its key."""
    event = work.events[places[-1]]
    identity = work.shape(event).identity
    if not identity:
        return False
    work.insert(places[-1] + 1, replace(event, id=f"{event.id}/anonymous", values={**event.values, identity[0]: None}))
    return True


def _conflicting_redelivery(work: _Work, places: list[int]) -> bool:
    """Add a redelivery of the last event with another content."""
    event, previous = work.events[places[-1]], work.previous(places)
    shape = work.shape(event)
    composer = work.generator.composer
    names = [name for name in shape.fields if name not in shape.pinned]
    names.sort(key=lambda name: name in shape.condition_fields)
    for name in names:
        for _ in range(10):
            values = {**event.values, name: composer.values.draw(shape.fields[name], event.sent_at, required=True)}
            if values[name] != event.values.get(name) and not composer.log.broken(shape.conditions, values, previous):
                work.insert(places[-1] + 1, replace(event, id=f"{event.id}/conflict", values=values))
                return True
    return False


def _swapped(work: _Work, places: list[int]) -> bool:
    """Send an event after the next one of its key."""
    if len(places) < 2:
        return False
    first, second = places[-2], places[-1]
    early, late = work.events[first], work.events[second]
    if work.shape(early).sequence is None:
        return False
    late_shape, early_shape = work.shape(late), work.shape(early)
    values = dict(early.values)
    if early_shape.time is not None and late_shape.time is not None and early_shape.time != early_shape.sequence:
        values[early_shape.time] = late.values[late_shape.time]  # so that the delay alone does not violate the latency
        before = work.events[places[-3]].values if len(places) > 2 else None
        log = work.generator.composer.log
        if log.broken(early_shape.conditions, values, before) or log.broken(late_shape.conditions, late.values, values):
            return False
    work.events[second] = replace(early, values=values, sent_at=late.sent_at)
    work.events[first:second] = [*work.events[first + 1 : second], late]
    return True


def _gap(work: _Work, places: list[int]) -> bool:
    """Leave out a number of the sequence before the last event of a key."""
    event = work.events[places[-1]]
    name = work.shape(event).sequence
    if name is None or len(places) < 2 or not isinstance(event.values[name], int):
        return False
    work.change(places[-1], {**event.values, name: event.values[name] + 1})
    return True


def _other_partition(work: _Work, places: list[int]) -> bool:
    """Send the last event of a key with another partition key."""
    if len(places) < 2:
        return False
    for number, place in enumerate(places[1:]):
        event = work.events[place]
        work.events[place] = replace(event, partition_key=f"{event.key}/{number}")
    return True


def _redelivery(work: _Work, places: list[int]) -> bool:
    """Deliver the last event of a key twice."""
    event = work.events[places[-1]]
    if applicable_checks(work.shape(event).target)[CheckId.DUPLICATES] is not None:
        return False
    work.insert(places[-1] + 1, event)
    return True


def _unknown_type(work: _Work, places: list[int]) -> bool:
    """Add a record whose type is none of the contracts."""
    event = work.events[places[-1]]
    work.insert(places[-1] + 1, replace(event, id=f"{event.id}/unknown", type=f"{event.type}ByMistake"))
    return True


def _forbidden_move(work: _Work, places: list[int]) -> bool:
    """Add an event that is not allowed in the last state of a key."""
    last = work.events[places[-1]]
    stream = work.shape(last).stream
    if stream is None:
        return False
    forbidden = [
        shape
        for shape in work.generator.shapes
        if shape.stream is stream and not stream.machine.allows(last.state, shape.type)
    ]
    for shape in forbidden:
        history = KeyHistory(
            0, {name: last.values[name] for name in shape.key}, last.state, len(places), dict(last.values)
        )
        history.sequence = last.values[work.shape(last).sequence or ""] if shape.sequence else None
        try:
            event = work.generator.append(shape, history, last.sent_at + timedelta(milliseconds=1))
        except InvalidDocument:  # no values satisfy the invariants of an event that must not occur here
            continue
        work.insert(places[-1] + 1, replace(event, state=last.state))
        return True
    return False


def _clock_ahead(work: _Work, places: list[int]) -> bool:
    """Move all times of a key far into the future, as a publisher with a wrong clock does."""
    if work.shape(work.events[places[-1]]).time is None:
        return False
    for place in places:
        work.change(place, _shifted(work.events[place].values, _AHEAD))
    return True


def _delay_all(work: _Work) -> None:
    """Move all times back by more than the promised latency, as if the events had waited before they were sent."""
    promised = [one.contract.treaty.latency for one in work.generator.shapes]
    seconds = [parse_seconds(one.within) for one in promised if one is not None and one.within]
    delay = timedelta(seconds=2 * max(map(float, filter(None, seconds)), default=0) + 60)
    for place, event in enumerate(work.events):
        work.change(place, _shifted(event.values, -delay))


def _shifted(value: Any, by: timedelta) -> Any:
    if isinstance(value, datetime):
        return value + by
    if isinstance(value, Mapping):
        return {name: _shifted(one, by) for name, one in value.items()}
    return [_shifted(one, by) for one in value] if isinstance(value, list) else value


_VIOLATIONS: Mapping[CheckId, _Violate] = {
    CheckId.READABLE: _unreadable,
    CheckId.FIELDS: _wrong_field,
    CheckId.TIME_ZONE: _without_offset,
    CheckId.RULES: _broken_condition(Origin.RULE),
    CheckId.CLOSED: _undeclared_field,
    CheckId.EXCLUSIONS: _excluded_field,
    CheckId.IDENTITY: _without_identity,
    CheckId.CONFLICT: _conflicting_redelivery,
    CheckId.SEQUENCE: _swapped,
    CheckId.GAPS: _gap,
    CheckId.PARTITION: _other_partition,
    CheckId.DUPLICATES: _redelivery,
    CheckId.EVENT_TYPE: _unknown_type,
    CheckId.MOVE: _forbidden_move,
    CheckId.INVARIANT: _broken_condition(Origin.INVARIANT),
    CheckId.CLOCK: _clock_ahead,
}
"""How each check is violated, except latency, which is about all events."""
