"""Lint rules for event contracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field
from treaty.governance.lint.rule_table import FieldContext, Readers, Remark, contract_rule, reader_rule
from treaty.governance.lint.text_analysis import is_circular, says_nothing

MAX_EVENT_FIELDS = 35
MAX_FIELDS_WITHOUT_READERS = 20
MAX_FIELDS_NAMED = 5


@contract_rule(Severity.WARNING)
def event_over_wide(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event has more fields than consumers are likely to need.

    Why: public interfaces are expensive to change. An event that contains the publisher's full record makes every
    column of its database part of the public interface, and consumers will come to rely on each of them.

    Fix: include only what consumers need to react, and list what is left out under `exclusions:`.
    """
    if contract.treaty.event is None:
        return
    leaves = Counter(spot.path.object for spot in _leaves(fields))
    for width in (count for count in leaves.values() if count > MAX_EVENT_FIELDS):
        message = f"the event has {width} fields, more than {MAX_EVENT_FIELDS}"
        yield Remark(message, "include what consumers need to react; list the rest under exclusions:", ("schema",))


@reader_rule(Severity.WARNING)
def event_fields_unread(contract: Contract, fields: tuple[FieldContext, ...], readers: Readers) -> Iterator[Remark]:
    """An event has more than 20 fields, and some of them are read by no consumer.

    Runs where a registry is asked (`treaty check`, `treaty lint --registry`) and every consumer of the line has
    declared its fields.

    Why: a field that no consumer needs is still part of the public interface. Some consumer will come to rely on it,
    and then it cannot be changed freely.

    Fix: remove the fields with the next MAJOR version, and list them under `exclusions:`.
    """
    leaves = _leaves(fields)
    if contract.treaty.event is None or len(leaves) <= MAX_FIELDS_WITHOUT_READERS or not readers.consumers:
        return
    unread = [
        spot.path_text
        for spot in leaves
        if not any(read.covers(spot.path) or spot.path.covers(read) for read in readers.fields)
    ]
    if unread:
        named = ", ".join(unread[:MAX_FIELDS_NAMED])
        more = f" and {len(unread) - MAX_FIELDS_NAMED} more" if len(unread) > MAX_FIELDS_NAMED else ""
        message = f"the event has {len(leaves)} fields, and no consumer reads {named}{more}"
        yield Remark(message, "remove them, and list them under exclusions:", ("schema",))


def _leaves(fields: tuple[FieldContext, ...]) -> list[FieldContext]:
    return [spot for spot in fields if spot.name and not _holds_fields(spot.field)]


def _holds_fields(field: Field) -> bool:
    return bool(field.properties) or any(child.properties for _, child in field.children)


@contract_rule(Severity.WARNING)
def event_meaning_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event does not say what happened.

    Why: "ClassPublished" may mean requested, created or changed. Subscribers have to guess.

    Fix: add `event.meaning`: what the publisher observed or decided.
    """
    event = contract.treaty.event
    if event is not None and (says_nothing(event.meaning) or is_circular(event.type, event.meaning or "")):
        yield Remark(f"the event {event.type} does not say what happened", "add event.meaning", ("event",))


@contract_rule(Severity.WARNING)
def ordering_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event contract does not state its ordering.

    Why: some consumers will assume an order. If there is none, the contract has to say so.

    Fix: add `ordering:` with `key` and `sequence`, or `ordering: none`.
    """
    if contract.treaty.event is not None and contract.treaty.ordering is None:
        yield Remark("the event contract does not state its ordering", "add ordering:, or ordering: none", ("event",))


@contract_rule(Severity.WARNING)
def delivery_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event contract does not state its delivery guarantee.

    Why: consumers are built differently if events may repeat or be lost.

    Fix: add `delivery:` with a `guarantee`.
    """
    if contract.treaty.event is not None and contract.treaty.delivery is None:
        yield Remark(
            "the event contract does not state its delivery", "add delivery: {guarantee: at_least_once}", ("event",)
        )


@contract_rule(Severity.INFO)
def exclusions_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event contract does not state its exclusions.

    Why: consumers should know what is left out on purpose, so that it is not added back by accident.

    Fix: list under `exclusions:` what consumers might expect but will not find.
    """
    if contract.treaty.event is not None and not contract.treaty.exclusions:
        yield Remark("the event contract does not state its exclusions", "add exclusions:", ("event",))
