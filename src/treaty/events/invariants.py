"""The SQL of invariants, checked by the allow-list of rules and rendered for rows with `current` and `previous`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treaty.contracts.event_lifecycles import Invariant
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.errors import InvalidDocument
from treaty.events.streams import Stream
from treaty.sql.checked_sql import RowCondition, RuleTarget
from treaty.sql.rules import parse_rule

CURRENT, PREVIOUS = "current", "previous"
_RULE_SUBJECT = "the SQL of the rule"


@dataclass(frozen=True, slots=True)
class InvariantRule:
    """An invariant of an event type, and its checked condition."""

    event_type: str
    contract: str
    invariant: Invariant
    condition: RowCondition

    @property
    def broken(self) -> str:
        """SQL that is true for an event that violates the invariant, and false for all others."""
        return self.condition.broken

    def reads(self, side: str) -> tuple[str, ...]:
        """Return the top-level fields of `current` or `previous` that the condition reads."""
        paths = [path.steps for path in self.condition.paths if path.steps and path.steps[0].text == side]
        return tuple(dict.fromkeys(steps[1].text for steps in paths if len(steps) > 1))


def parse_invariant(stream: Stream, contract: Contract, invariant: Invariant) -> InvariantRule:
    """Return the checked condition of an invariant; refuse what is not a condition over `current` and `previous`."""
    event_type = contract.treaty.event.type if contract.treaty.event else contract.id
    rule = _parse(contract, invariant, RuleTarget(_row_of(contract, stream.previous_object)))
    return InvariantRule(event_type, contract.id, invariant, rule)


def check_invariant(contract: Contract, invariant: Invariant) -> None:
    """Refuse what is not a condition, as far as one contract of a stream shows it: `previous` may have any fields."""
    _parse(contract, invariant, RuleTarget(_row_of(contract, SchemaObject(PREVIOUS))))


def _parse(contract: Contract, invariant: Invariant, target: RuleTarget) -> RowCondition:
    try:
        rule = parse_rule(invariant.sql, target)
    except InvalidDocument as error:
        message = str(error).replace(_RULE_SUBJECT, "its SQL")
        raise InvalidDocument(f"the invariant {invariant.name} of {contract.id}: {message}") from None
    if not isinstance(rule, RowCondition):
        raise InvalidDocument(
            f"the invariant {invariant.name} of {contract.id} is not a condition on one event; write what must "
            "be true, such as current.capacity >= previous.capacity"
        )
    return rule


def invariant_rules(stream: Stream) -> Iterator[InvariantRule]:
    """Yield the invariants of all event types of a stream."""
    for contract in stream.contracts:
        lifecycle = contract.treaty.lifecycle
        for invariant in lifecycle.invariants if lifecycle else ():
            yield parse_invariant(stream, contract, invariant)


def _row_of(contract: Contract, previous: SchemaObject) -> SchemaObject:
    """Return an object with the event itself and the one before it, which may have any type of the stream."""
    own = contract.schema[0].properties if contract.schema else ()
    both = (
        Field(CURRENT, logical_type="object", properties=own),
        Field(PREVIOUS, logical_type="object", properties=previous.properties),
    )
    return SchemaObject("event", properties=both)
