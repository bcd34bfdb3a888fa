"""Lint rules for event contracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field
from treaty.governance.lint.rule_table import FieldContext, Remark, contract_rule
from treaty.governance.lint.text_analysis import is_circular, says_nothing

MAX_EVENT_FIELDS = 35


@contract_rule(Severity.WARNING)
def event_over_wide(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event has more fields than consumers are likely to need.

    Why: public interfaces are expensive to change. An event that contains the publisher's full record makes every
    column of its database part of the public interface, and consumers will come to rely on each of them.

    Fix: include only what consumers need to react, and list what is left out under `exclusions:`.
    """
    if contract.treaty.event is None:
        return
    leaves = Counter(spot.path.object for spot in fields if spot.name and not _holds_fields(spot.field))
    for width in (count for count in leaves.values() if count > MAX_EVENT_FIELDS):
        message = f"the event has {width} fields, more than {MAX_EVENT_FIELDS}"
        yield Remark(message, "include what consumers need to react; list the rest under exclusions:", ("schema",))


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
