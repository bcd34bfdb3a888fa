"""The meaning of a field or contract, which can change while the schema stays the same."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, READERS, Grade, kind
from treaty.contracts.model import Contract
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump, try_parse_version

_MEANING = {
    Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
    Direction.REMOVED: Grade(Bump.MAJOR, BOTH),
    Direction.ADDED: Grade(Bump.MINOR, caution=True),
}
_TEXT_ONLY = {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)}


def _subject(change: Change) -> str:
    return f"field {change.field!r}" if change.field else change.subject or "the contract"


@kind("field.unit", _MEANING)
def field_unit_changed(change: Change) -> str:
    """The unit of a field was added, removed or changed.

    Why it hurts: every number keeps its type but means something else. No test fails, but the totals are wrong.

    Example: `amount` goes from EUR to cents of EUR.

    Instead: add a field with the unit in its name (`amount_cents`) and move the readers to it. Declaring a unit for
    the first time is MINOR.
    """
    return f"field {change.field!r} unit changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.time_zone", _MEANING)
def field_time_zone_changed(change: Change) -> str:
    """The time zone of a field was added, removed or changed.

    Why it hurts: `scheduled_start` still parses, but every class starts hours off. Daily sums shift across midnight.

    Example: times go from UTC to local time.

    Instead: keep UTC, and add the time zone or the local time as a separate field.
    """
    return f"field {change.field!r} time zone changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.semantic_type", _MEANING)
def field_semantic_type_changed(change: Change) -> str:
    """The business concept of a field was added, removed or changed.

    Why it hurts: the type is the same, but the value is a different thing, so existing sums and joins are misleading.

    Example: `amount` goes from `money.gross` to `money.net`.

    Instead: add a new field, with its own name, for the new concept.
    """
    return f"field {change.field!r} semantic type changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("definition", _MEANING)
def authoritative_definition_changed(change: Change) -> str:
    """An authoritative definition was added, removed or replaced.

    Why it hurts: consumers agreed to the old definition. A different one may count other things under the same name.

    Example: `net_sales` now points to the finance glossary of this year instead of the one it was built on.

    Instead: if only the URL moved, keep the old one or re-grade this kind in policy. Otherwise the meaning is new and
    needs a new MAJOR version. An additional definition is MINOR.
    """
    return f"{_subject(change)} authoritative definition changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("custom_meaning", _MEANING)
def custom_meaning_changed(change: Change) -> str:
    """A custom property that carries meaning was added, removed or changed.

    Why it hurts: a custom property such as `currency` says what the values are. If it changes, every number keeps its
    type but means something else.

    Which custom properties carry meaning: `currency`, `timezone`, and those under `meaning_properties:` in
    `treaty.yaml`. All others are metadata.

    Example: `currency` goes from EUR to USD.

    Instead: add a field with the new meaning and move the readers to it. Declaring the property for the first time is
    MINOR.
    """
    place = f"field {change.field!r}: " if change.field else ""
    moved = f"{abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"
    return f"{place}{change.subject} changed: {moved}; the values mean something else"


MEANING_PROPERTIES = frozenset({"currency", "timezone"})
"""Custom properties that carry meaning, unless settings name more; the names ignore case, `-` and `_`."""

_METADATA = frozenset({"field_metadata_changed", "object_metadata_changed", "contract_metadata_changed"})
_CUSTOM_PROPERTY = re.compile(r"(?:.*\.)?customProperties\.(?P<name>.+?)(?: \([0-9]+\))?", re.DOTALL)


def classify_meaning(change: Change, properties: Collection[str] = MEANING_PROPERTIES) -> Change:
    """Return the change of a custom property that carries meaning with its kind; other changes as they are."""
    match = _CUSTOM_PROPERTY.fullmatch(change.subject or "") if change.kind in _METADATA else None
    if match is None or plain_property_name(match["name"]) not in properties:
        return change
    return replace(change, kind=custom_meaning_changed.id)


def plain_property_name(name: str) -> str:
    """Return the name of a custom property without case, `-` and `_`."""
    return name.lower().replace("_", "").replace("-", "")


@kind("field.description", _TEXT_ONLY)
def field_description_changed(change: Change) -> str:
    """The description of a field changed.

    Documentation only: PATCH. If the description changed because the meaning did, change the unit, semantic type or
    definition as well, so that the change is graded correctly.

    Example: a typo is corrected.
    """
    return f"field {change.field!r} description changed"


@kind("field.classification", _TEXT_ONLY)
def field_classification_changed(change: Change) -> str:
    """The classification of a field was added, removed or changed.

    The schema is unchanged: PATCH. Masking and access follow the classification wherever the data is served.

    Example: `email` is now classified as `pii`.
    """
    return f"field {change.field!r} classification changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("contract.description", _TEXT_ONLY)
def contract_description_changed(change: Change) -> str:
    """The description of the contract, or of one of its objects, changed.

    Documentation only: PATCH.

    Example: the intended usage is described in more detail.
    """
    return f"{change.subject} changed"


@kind(
    "contract.event_meaning",
    {
        Direction.REPLACED: Grade(Bump.MAJOR, READERS),
        Direction.REMOVED: Grade(Bump.MAJOR, READERS),
        Direction.ADDED: Grade(Bump.MINOR, caution=True),
    },
)
def event_meaning_changed(change: Change) -> str:
    """The stated meaning of an event was added, removed or changed.

    Why it hurts: subscribers react to what the event says happened. With another meaning, the schema still fits and
    every consumer reacts to the wrong thing.

    Example: "a class was created" becomes "a class was created, or updated significantly".

    Instead: publish the new fact as its own event type. If only the wording changed, an owner of the contract declares
    it in the changelog entry of the version, with `editorial: true` and `owner`; the change is then
    `event_meaning_reworded`. Stating the meaning for the first time is MINOR.
    """
    text = f"the meaning of the event changed: {_quote(change.before)} -> {_quote(change.after)}"
    if change.declared_by is None:
        return text
    return f"{text}; {change.declared_by!r} declared it editorial but does not own the contract"


@kind("contract.event_wording", {Direction.REPLACED: Grade(Bump.PATCH, caution=True)})
def event_meaning_reworded(change: Change) -> str:
    """The meaning of an event was reworded, as an owner of the contract declares.

    The changelog entry of the version has `editorial: true` and the `owner` who declares it. This is PATCH with a
    warning, so that reviewers compare both texts. The owner is named in the verdict and in the audit log.

    Example: "a class was created" becomes "a class has been created".
    """
    return f"the meaning of the event was reworded, editorial according to {change.declared_by}; compare both texts"


EDITORIAL = frozenset({event_meaning_reworded.id})
"""Kinds that depend on the statement of an owner, which the audit log names."""


def _quote(meaning: str | None) -> str:
    return f'"{abbreviate(meaning)}"' if meaning else "none"


def classify_wording(change: Change, before: Contract, after: Contract) -> Change:
    """Return a changed meaning with the owner who declared it editorial; other changes as they are.

    A declaration counts if its team owned the contract before the change and its version lies after `before`.
    """
    if change.kind != event_meaning_changed.id or change.direction is not Direction.REPLACED:
        return change
    entries = [entry for entry in after.treaty.changelog if entry.editorial]
    declared_by = [entry.owner for entry in entries if _is_between(entry.version, before, after)]
    owners = {owner.team for owner in before.owners or after.owners}
    entitled = next((team for team in declared_by if team in owners), None)
    if entitled is not None:
        return replace(change, kind=event_meaning_reworded.id, declared_by=entitled)
    return replace(change, declared_by=declared_by[0]) if declared_by else change


def _is_between(text: str, before: Contract, after: Contract) -> bool:
    """Return whether a version is after the old one and not after the new one."""
    version, old, new = try_parse_version(text), before.semantic_version, after.semantic_version
    if version is None or old is None or new is None:
        return text == after.version
    return old < version <= new


@kind(
    "contract.event_type",
    {direction: Grade(Bump.MAJOR, BOTH) for direction in (Direction.REPLACED, Direction.REMOVED)},
)
def event_type_changed(change: Change) -> str:
    """The event type was renamed or removed.

    Why it hurts: subscribers select events by type and will no longer receive this one.

    Example: `ClassPublished` becomes `ClassScheduled`.

    Instead: publish both types during a migration window.
    """
    return f"event type changed: {change.before} -> {change.after or 'none'}"


@kind("contract.event_type", {Direction.ADDED: Grade(Bump.MINOR)})
def event_type_declared(change: Change) -> str:
    """The contract now declares the type of its event.

    Example: `event: {type: ClassPublished}` is added.
    """
    return f"event type declared: {change.after}"


@kind("contract.source_authority", _MEANING)
def source_authority_changed(change: Change) -> str:
    """A different system is the source of truth for this contract.

    Why it hurts: the same question gets a different answer, and disputes go to a different team.

    Example: settled amounts come from the bank feed instead of the payment service.
    """
    return f"source authority changed: {abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"
