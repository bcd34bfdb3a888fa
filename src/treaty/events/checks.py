"""The table of checks of a publisher: their ids, what each one proves, and when it applies.

Certificates, the pipeline's quarantine and the generator of deliberate violations name these ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.events.event_times import event_time_field
from treaty.events.state_machine import ViolationKind
from treaty.events.streams import Stream


class CheckId(StrEnum):
    """The ids of the checks."""

    READABLE = "schema.readable"
    FIELDS = "schema.fields"
    TIME_ZONE = "schema.time_zone"
    RULES = "schema.rules"
    CLOSED = "content.closed"
    EXCLUSIONS = "content.exclusions"
    IDENTITY = "identity.complete"
    CONFLICT = "identity.conflict"
    SEQUENCE = "ordering.sequence"
    GAPS = "ordering.gaps"
    PARTITION = "ordering.partition"
    DUPLICATES = "delivery.duplicates"
    EVENT_TYPE = ViolationKind.UNKNOWN_TYPE.value
    MOVE = ViolationKind.MOVE.value
    INVARIANT = ViolationKind.INVARIANT.value
    LATENCY = "timeliness.latency"
    CLOCK = "timeliness.clock"


class Group(StrEnum):
    """What a check is about; the part of its id before the dot."""

    SCHEMA = "schema"
    CONTENT = "content"
    IDENTITY = "identity"
    ORDERING = "ordering"
    DELIVERY = "delivery"
    LIFECYCLE = "lifecycle"
    TIMELINESS = "timeliness"


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """What a publisher is checked against: an event contract, its stream if it has one, and what records carry."""

    contract: Contract
    stream: Stream | None = None
    has_arrival_times: bool = True
    has_partitions: bool = False

    @property
    def ordering(self) -> tuple[tuple[str, ...], str] | None:
        """The key and sequence of the events of the contract, or of its stream."""
        own = self.contract.treaty.ordering
        if own is not None and own.key and own.sequence:
            return own.key, own.sequence
        return self.stream.ordering if self.stream is not None and own is None else None


Applies = Callable[[CheckTarget], str | None]
"""Returns why a check does not apply to a contract; None if it does."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it proves, in a title and a page, and the severity of its violations.

    The severity of invariants and quality rules is theirs; this is the one that applies if they state none.
    """

    id: CheckId
    title: str
    page: str
    severity: Severity
    applies: Applies

    @property
    def group(self) -> Group:
        """What the check is about."""
        return Group(self.id.partition(".")[0])


def _always(target: CheckTarget) -> str | None:
    return None


def _has_zoned_times(target: CheckTarget) -> str | None:
    schema = target.contract.schema[:1]
    if any(states_time_zone(field) for one in schema for field in all_fields(one)):
        return None
    return "no field is a timestamp with a time zone"


def _has_rules(target: CheckTarget) -> str | None:
    if any(quality_of(one) for one in target.contract.schema[:1]):
        return None
    return "the contract has no quality rules"


def _is_closed(target: CheckTarget) -> str | None:
    return None if target.contract.treaty.content == "closed" else "the content of the contract is open"


def _has_exclusions(target: CheckTarget) -> str | None:
    return None if target.contract.treaty.exclusions else "the contract states no exclusions"


def _has_identity(target: CheckTarget) -> str | None:
    return None if identity_of(target) else "the contract has neither a primary key nor an ordering key and sequence"


def _is_ordered(target: CheckTarget) -> str | None:
    return None if target.ordering else "the contract guarantees no order"


def _has_counted_sequence(target: CheckTarget) -> str | None:
    if target.ordering is None:
        return "the contract guarantees no order"
    name = target.ordering[1]
    field = next((one for schema in target.contract.schema[:1] for one in schema.fields if one.name == name), None)
    if field is None or field.type is None or field.type.name != "integer":
        return f"{name} is not an integer, so a gap cannot be seen"
    return None


def _has_partitions(target: CheckTarget) -> str | None:
    return _is_ordered(target) or (None if target.has_partitions else "the publisher has no partitions")


def _promises_delivery(target: CheckTarget) -> str | None:
    if (reason := _has_identity(target)) is not None:
        return reason
    delivery = target.contract.treaty.delivery
    if delivery is None:
        return "the contract states no delivery guarantee"
    return None if delivery.guarantee in SINGLE_DELIVERY else f"{delivery.guarantee} allows an event to repeat"


def _has_lifecycle(target: CheckTarget) -> str | None:
    return None if target.contract.treaty.lifecycle else "the contract states no life cycle"


def _has_moves(target: CheckTarget) -> str | None:
    lifecycle = target.contract.treaty.lifecycle
    return None if lifecycle and lifecycle.moves else _has_lifecycle(target) or "the event type may occur in any state"


def _has_invariants(target: CheckTarget) -> str | None:
    lifecycle = target.contract.treaty.lifecycle
    return None if lifecycle and lifecycle.invariants else "the contract states no invariants"


def _promises_latency(target: CheckTarget) -> str | None:
    latency = target.contract.treaty.latency
    if latency is None or latency.within is None:
        return "the contract promises no latency"
    if event_time_field(target.contract) is None:
        return NO_EVENT_TIME
    return None if target.has_arrival_times else "the records have no time of arrival"


NO_EVENT_TIME = "the contract does not say which field is the time of the event"
SINGLE_DELIVERY = frozenset({"exactly_once", "at_most_once"})
"""The delivery guarantees under which no event may repeat."""

CHECKS: Mapping[CheckId, Check] = {
    one.id: one
    for one in (
        Check(
            CheckId.READABLE,
            "Every record is one JSON object",
            "A record that is cut off, empty, a list or followed by other text cannot be read by a consumer.",
            Severity.ERROR,
            _always,
        ),
        Check(
            CheckId.FIELDS,
            "Every event has the fields of the contract",
            "Required fields are there, and values have the type, range, length, pattern and allowed values that the "
            "contract states, at any depth.",
            Severity.ERROR,
            _always,
        ),
        Check(
            CheckId.TIME_ZONE,
            "Timestamps with a time zone state their offset",
            "A field with `timezone: true` carries Z or an offset in every value. A value without one is read as local "
            "time by some consumers and as UTC by others.",
            Severity.ERROR,
            _has_zoned_times,
        ),
        Check(
            CheckId.RULES,
            "Every event satisfies the quality rules on single events",
            "The rules under `quality:` that can be decided for one event, such as an end that is after the start.",
            Severity.ERROR,
            _has_rules,
        ),
        Check(
            CheckId.CLOSED,
            "Events carry nothing beyond the contract",
            "With `content: closed`, a field that the contract does not declare is a violation, at any depth: some "
            "consumer would come to rely on it.",
            Severity.ERROR,
            _is_closed,
        ),
        Check(
            CheckId.EXCLUSIONS,
            "Nothing that the contract excludes is leaked",
            "No undeclared field is named after an entry of `exclusions:`, and no text contains one: neither as a "
            "label with a value, such as `row=4711` in a correlation id, nor as a field of embedded JSON.",
            Severity.ERROR,
            _has_exclusions,
        ),
        Check(
            CheckId.IDENTITY,
            "Every event has its key and sequence",
            "An event without them can neither be deduplicated nor put in order.",
            Severity.ERROR,
            _has_identity,
        ),
        Check(
            CheckId.CONFLICT,
            "One identity has one content",
            "Two events of one type with the same identity have the same values. A redelivery repeats them.",
            Severity.ERROR,
            _has_identity,
        ),
        Check(
            CheckId.SEQUENCE,
            "Events of a key arrive in the order of their sequence",
            "An event must not arrive before an earlier one of its key. Redeliveries are not counted.",
            Severity.ERROR,
            _is_ordered,
        ),
        Check(
            CheckId.GAPS,
            "The sequence of a key has no gaps",
            "Between the first and the last event of a key, every number of the sequence occurs.",
            Severity.ERROR,
            _has_counted_sequence,
        ),
        Check(
            CheckId.PARTITION,
            "All events of a key are in one partition",
            "A topic keeps the order of records within a partition only.",
            Severity.ERROR,
            _has_partitions,
        ),
        Check(
            CheckId.DUPLICATES,
            "No event is delivered twice",
            "Applies to `exactly_once` and `at_most_once`. Other guarantees allow an identical redelivery, which is "
            "counted in the report.",
            Severity.ERROR,
            _promises_delivery,
        ),
        Check(
            CheckId.EVENT_TYPE,
            "Every event has a type of the contracts",
            "A record whose type is none of the certified contracts is a violation.",
            Severity.ERROR,
            _always,
        ),
        Check(
            CheckId.MOVE,
            "Every event is allowed in the state of its key",
            "The events of a key, in the order of their sequence, follow the moves of the life cycle. An event that "
            "is not allowed does not change the state.",
            Severity.ERROR,
            _has_moves,
        ),
        Check(
            CheckId.INVARIANT,
            "Every event satisfies the invariants",
            "The conditions of the life cycle over `current` and `previous`, the accepted event of the key before it. "
            "The severity is that of the invariant.",
            Severity.ERROR,
            _has_invariants,
        ),
        Check(
            CheckId.LATENCY,
            "Events arrive in time",
            "The share of events that the latency profile states arrives within the promised time after the event.",
            Severity.ERROR,
            _promises_latency,
        ),
        Check(
            CheckId.CLOCK,
            "No event is from the future",
            "The time of an event is not later than its arrival, with one minute of tolerance. Otherwise the clock of "
            "the publisher is ahead, or it sends local time as UTC.",
            Severity.ERROR,
            lambda target: None if event_time_field(target.contract) else NO_EVENT_TIME,
        ),
    )
}
"""Every check, in the order of the report."""

CLOCK_TOLERANCE_S = 60
"""How much later than its arrival the time of an event may be."""


def identity_of(target: CheckTarget) -> tuple[str, ...]:
    """Return the fields that identify an event of a type: the ordering key and sequence, else the primary key."""
    if target.ordering is not None:
        key, sequence = target.ordering
        return (*key, sequence)
    return target.contract.schema[0].primary_key if target.contract.schema else ()


def states_time_zone(field: Field) -> bool:
    """Return whether the values of a field have to state an offset."""
    is_timestamp = field.type is not None and field.type.name == "timestamp"
    return is_timestamp and field.options is not None and field.options.get("timezone") is True


def all_fields(schema: SchemaObject) -> Sequence[Field]:
    """Return the fields of an object at any depth."""
    found: list[Field] = []
    pending = list(schema.fields)
    while pending:
        field = pending.pop()
        found.append(field)
        pending += [*(field.properties or ()), *(child for _, child in field.children)]
    return found


def quality_of(schema: SchemaObject) -> bool:
    """Return whether an object or one of its fields has quality rules."""
    return bool(schema.quality) or any(field.quality for field in all_fields(schema))


def applicable_checks(target: CheckTarget) -> Mapping[CheckId, str | None]:
    """Return, for every check, why it does not apply to a contract, or None."""
    return {name: check.applies(target) for name, check in CHECKS.items()}
