"""What a field or contract means, while its shape may stay the same."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, Grade, kind
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump

_MEANING = {
    Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
    Direction.REMOVED: Grade(Bump.MAJOR, BOTH),
    Direction.ADDED: Grade(Bump.MINOR, caution=True),
}
_WORDS = {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)}


def _who(change: Change) -> str:
    return f"field {change.field!r}" if change.field else change.subject or "the contract"


@kind("field.unit", _MEANING)
def field_unit_changed(change: Change) -> str:
    """A field's unit came, went or changed.

    Why it hurts: every number keeps its type and means something else. No test fails; the totals do.

    Example: `amount` goes from EUR to cents of EUR.

    Instead: add a field with the unit in its name (`amount_cents`) and move the readers. Declaring a unit that was
    always meant is MINOR.
    """
    return f"field {change.field!r} unit changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.time_zone", _MEANING)
def field_time_zone_changed(change: Change) -> str:
    """The time zone a field's times are in came, went or changed.

    Why it hurts: `scheduled_start` still parses, and every class begins hours off. Daily sums move across midnight.

    Example: times go from UTC to local time.

    Instead: keep UTC; add the zone, or the local time, as a field of its own.
    """
    return f"field {change.field!r} time zone changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.semantic_type", _MEANING)
def field_semantic_type_changed(change: Change) -> str:
    """The business concept a field belongs to came, went or changed.

    Why it hurts: two things that share a type are not the same thing; sums and joins over the new one mislead.

    Example: `amount` goes from `money.gross` to `money.net`.

    Instead: a new field for the new concept, in its own name.
    """
    return f"field {change.field!r} semantic type changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("definition", _MEANING)
def authoritative_definition_changed(change: Change) -> str:
    """The definition that settles a meaning came, went or was replaced by another.

    Why it hurts: consumers agreed to the old definition. Another one may count other things under the same name.

    Example: `net_sales` points to the finance glossary of this year, not to the one it was built on.

    Instead: if only the address moved, keep the old one or re-grade this kind in policy; else it is a new meaning and
    a new MAJOR version. A further definition beside the old ones is MINOR.
    """
    return f"{_who(change)} authoritative definition changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.description", _WORDS)
def field_description_changed(change: Change) -> str:
    """A field is described in other words.

    Documentation only: PATCH. If the words changed because the meaning did, change the unit, semantic type or
    definition too, so that the change is seen for what it is.

    Example: a typo is mended.
    """
    return f"field {change.field!r} description changed"


@kind("field.classification", _WORDS)
def field_classification_changed(change: Change) -> str:
    """A field's classification came, went or changed.

    The shape stays: PATCH. Masking and access follow the classification where the data is served.

    Example: `email` is now `pii`.
    """
    return f"field {change.field!r} classification changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.description", _WORDS)
def contract_description_changed(change: Change) -> str:
    """The contract, or one of its objects, is described in other words.

    Documentation only: PATCH.

    Example: the intended usage is spelled out.
    """
    return f"{change.subject} changed"


@kind(
    "contract.event_meaning",
    {
        direction: Grade(Bump.PATCH, caution=True)
        for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)
    },
)
def event_meaning_reworded(change: Change) -> str:
    """What an event says happened is put in other words.

    A text cannot be judged, so this is PATCH with a warning: somebody must read both.

    Example: "a class was created" becomes "a class was created or changed". That is another event, and belongs in a
    new one.
    """
    return "the meaning of the event is worded anew; read both and make sure it still says the same"


@kind(
    "contract.event_type",
    {direction: Grade(Bump.MAJOR, BOTH) for direction in (Direction.REPLACED, Direction.REMOVED)},
)
def event_type_changed(change: Change) -> str:
    """The event has another type name.

    Why it hurts: subscribers choose events by their type; they will not see this one any more.

    Example: `ClassPublished` becomes `ClassScheduled`.

    Instead: publish both for a migration window.
    """
    return f"event type changed: {change.before} -> {change.after or 'none'}"


@kind("contract.event_type", {Direction.ADDED: Grade(Bump.MINOR)})
def event_type_declared(change: Change) -> str:
    """The contract now names the event type it publishes.

    Example: `event: {type: ClassPublished}` is added.
    """
    return f"event type declared: {change.after}"


@kind("contract.source_authority", _MEANING)
def source_authority_changed(change: Change) -> str:
    """Another system decides what is true in this dataset.

    Why it hurts: the same question gets another answer, and disputes go to another team.

    Example: settled amounts come from the bank feed, before from the payment service.
    """
    return f"source authority changed: {abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"
