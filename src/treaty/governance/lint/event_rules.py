"""Rules about event contracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field
from treaty.governance.lint.rule_table import FieldContext, Remark, contract_rule
from treaty.governance.lint.text_analysis import is_circular, says_nothing

WIDEST_EVENT = 35


@contract_rule(Severity.WARNING)
def event_over_wide(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event carries more fields than consumers can need.

    Why: the outside of a system is expensive to change. An event that dumps the publisher's whole record makes every
    column of its database part of the outside; somebody will rely on each of them.

    Fix: keep what consumers need to react correctly; list what is left out under `exclusions:`.
    """
    if contract.treaty.event is None:
        return
    leaves = Counter(spot.path.object for spot in fields if spot.name and not _holds_fields(spot.field))
    for width in (count for count in leaves.values() if count > WIDEST_EVENT):
        message = f"the event carries {width} fields, more than {WIDEST_EVENT}"
        yield Remark(message, "keep what consumers need to react; list the rest under exclusions:", ("schema",))


def _holds_fields(field: Field) -> bool:
    return bool(field.properties) or any(child.properties for _, child in field.children)


@contract_rule(Severity.WARNING)
def event_meaning_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event does not say what happened.

    Why: "ClassPublished" may mean requested, created or changed. Subscribers react to what they believe it means.

    Fix: add `event.meaning`: what the publisher observed or decided that caused it.
    """
    event = contract.treaty.event
    if event is not None and (says_nothing(event.meaning) or is_circular(event.type, event.meaning or "")):
        yield Remark(f"the event {event.type} does not say what happened", "add event.meaning", ("event",))


@contract_rule(Severity.WARNING)
def ordering_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event contract says nothing about order.

    Why: some consumers will assume one. If there is none, the contract has to say so.

    Fix: add `ordering:` with `key` and `sequence`, or `ordering: none`.
    """
    if contract.treaty.event is not None and contract.treaty.ordering is None:
        yield Remark("the event contract does not state its ordering", "add ordering:, or ordering: none", ("event",))


@contract_rule(Severity.WARNING)
def delivery_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event contract says nothing about delivery.

    Why: whether events may repeat or go missing decides how every consumer is built.

    Fix: add `delivery:` with a `guarantee`.
    """
    if contract.treaty.event is not None and contract.treaty.delivery is None:
        yield Remark(
            "the event contract does not state its delivery", "add delivery: {guarantee: at_least_once}", ("event",)
        )


@contract_rule(Severity.INFO)
def exclusions_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An event contract does not say what it leaves out.

    Why: what is outside the contract should be outside on purpose, so that nobody asks for it back unknowingly.

    Fix: list under `exclusions:` what consumers might expect and will not find.
    """
    if contract.treaty.event is not None and not contract.treaty.exclusions:
        yield Remark("the event contract does not say what it leaves out", "add exclusions:", ("event",))
