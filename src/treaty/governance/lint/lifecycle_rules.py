"""Lint rules for life cycles of events: what one contract can say about its part in a stream."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.governance.lint.rule_table import FieldContext, Remark, contract_rule
from treaty.governance.lint.text_analysis import says_nothing


@contract_rule(Severity.ERROR)
def lifecycle_unordered(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A contract states a life cycle, but not by which key and sequence its events are ordered.

    Why: the state of a key follows from its events in their order. Without it, nobody can say which state a key is in,
    and neither certification nor a pipeline can judge the moves.

    Fix: add `ordering:` with `key` and `sequence`, or remove `lifecycle:`.
    """
    ordering = contract.treaty.ordering
    if contract.treaty.lifecycle is not None and (ordering is None or not ordering.key or ordering.sequence is None):
        message = "the contract states a life cycle without a key and a sequence of its events"
        yield Remark(message, "add ordering: with key and sequence", ("lifecycle",))


@contract_rule(Severity.WARNING)
def lifecycle_event_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A contract states a life cycle, but not which event type it describes.

    Why: the moves of a stream are between event types. Without a type, the id of the contract takes its place in every
    message and in the type of records.

    Fix: add `event:` with `type` and `meaning`.
    """
    if contract.treaty.lifecycle is not None and contract.treaty.event is None:
        yield Remark("the contract states a life cycle without an event type", "add event: with a type", ("lifecycle",))


@contract_rule(Severity.ERROR)
def invariant_invalid(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The SQL of an invariant cannot be evaluated: wrong syntax, an unknown field of `current`, or no condition.

    Why: certification and pipelines refuse the whole stream, because a condition that cannot be evaluated proves
    nothing. Fields of `previous` are checked where all contracts of the stream are known.

    Fix: write a condition over `current` and `previous`, such as `current.capacity >= previous.capacity`.
    """
    lifecycle = contract.treaty.lifecycle
    if lifecycle is None or not lifecycle.invariants:
        return

    from treaty.events.invariants import check_invariant  # loads sqlglot, which only documents with SQL need

    for number, invariant in enumerate(lifecycle.invariants):
        try:
            check_invariant(contract, invariant)
        except InvalidDocument as error:
            hint = "write what must be true, such as current.capacity >= previous.capacity"
            yield Remark(str(error), hint, ("lifecycle", "invariants", number, "sql"))


@contract_rule(Severity.WARNING)
def invariant_unexplained(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An invariant does not say what it means.

    Why: its meaning is the reason that publishers and the quarantine show. SQL alone tells a vendor what failed, but
    not what was promised.

    Fix: add `meaning:`, a sentence that a subscriber understands: "The capacity of a class never falls."
    """
    lifecycle = contract.treaty.lifecycle
    for number, invariant in enumerate(lifecycle.invariants if lifecycle else ()):
        if says_nothing(invariant.meaning):
            message = f"the invariant {invariant.name} does not say what it means"
            yield Remark(message, "add a meaning", ("lifecycle", "invariants", number))
