"""The values that a field may hold."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, DATA, READERS, Grade, kind
from treaty.compatibility.terms.comparison import distinct
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump

_TIGHTER = Grade(Bump.MAJOR, DATA)
_LOOSER = Grade(Bump.MINOR, READERS)


def _format_value(value: tuple[bool, object]) -> str:
    return str(value[1]).lower() if value[0] else str(value[1])


@kind("field.enum", {Direction.TIGHTENED: _TIGHTER})
def field_enum_shrunk(change: Change) -> str:
    """A field allows fewer values than before.

    Why it hurts: existing rows may have a removed value and fail the new contract.

    Example: `plan` loses `enterprise` while customers still have it.

    Instead: keep the value, document that new rows no longer use it, and remove it in a MAJOR version.
    """
    removed = sorted(map(_format_value, distinct(change.before) - distinct(change.after)))
    return f"field {change.field!r} enum shrunk; removed values {removed} may appear in old data"


@kind("field.enum", {Direction.LOOSENED: _LOOSER})
def field_enum_expanded(change: Change) -> str:
    """A field allows more values than before.

    Existing data stays valid, so adding a value is MINOR. A reader that handles only the known values may fail on the
    new one; the modes `forward` and `full` refuse it.

    Example: `segment` gains `employee`.

    Instead: tell readers what the new value means before the first row uses it.
    """
    added = sorted(map(_format_value, distinct(change.after) - distinct(change.before)))
    return f"field {change.field!r} enum expanded with {added}; readers may see a value they do not know"


@kind("field.enum", {Direction.ADDED: _TIGHTER})
def field_enum_added(change: Change) -> str:
    """A field that accepted any value now accepts only a list of values.

    Why it hurts: existing rows may have other values and fail the new contract.

    Example: free-text `country` becomes an enum of forty codes.

    Instead: profile the data first, clean or map values that are not in the list, and restrict the field in a MAJOR
    version.
    """
    return f"field {change.field!r} now accepts only {abbreviate(list(change.after))}; old data may have other values"


@kind("field.enum", {Direction.REMOVED: _LOOSER})
def field_enum_removed(change: Change) -> str:
    """A field that accepted only a list of values now accepts any value.

    Why it hurts: readers that handle only the listed values may see other ones.

    Example: the list of payment providers is removed because it changes every week.
    """
    return f"field {change.field!r} no longer lists its values; readers may see any value"


@kind("field.range", {Direction.TIGHTENED: _TIGHTER, Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def field_range_narrowed(change: Change) -> str:
    """The allowed range of a field is narrower than before.

    Why it hurts: existing rows may be outside the new range and fail the new contract.

    Example: `quantity` is at most 99 instead of 999.

    Instead: keep the old range, and check the narrower one with a quality rule until the data complies.
    """
    return f"field {change.field!r} range narrowed: {change.before} -> {change.after}; old values may fall outside"


@kind("field.range", {Direction.LOOSENED: _LOOSER})
def field_range_widened(change: Change) -> str:
    """The allowed range of a field is wider than before.

    Why it hurts: a reader that relied on the old bounds (array sizes, display, sign) may see values outside them.

    Example: `discount` may now be negative.
    """
    return f"field {change.field!r} range widened: {change.before} -> {change.after}; readers may see new values"


@kind("field.length", {Direction.TIGHTENED: _TIGHTER})
def field_length_narrowed(change: Change) -> str:
    """The allowed length of a text is narrower than before.

    Why it hurts: existing texts outside the new length fail, or are silently truncated.

    Example: `sku` has at most 12 characters instead of 20.
    """
    return f"field {change.field!r} length narrowed: {change.before} -> {change.after}; old texts may not fit"


@kind("field.length", {Direction.LOOSENED: _LOOSER})
def field_length_widened(change: Change) -> str:
    """The allowed length of a text is wider than before.

    Why it hurts: a reader with a column of the old length truncates or rejects the new texts.

    Example: `sku` grows from 12 to 20 characters.
    """
    return f"field {change.field!r} length widened: {change.before} -> {change.after}; readers may truncate new texts"


@kind("field.item_count", {Direction.TIGHTENED: _TIGHTER})
def field_item_count_narrowed(change: Change) -> str:
    """The allowed number of array elements is narrower than before.

    Why it hurts: existing rows with another number of elements fail the new contract.

    Example: `lines` needs at least one element, but returns were stored with none.
    """
    return f"field {change.field!r} element count narrowed: {change.before} -> {change.after}; old rows may not fit"


@kind("field.item_count", {Direction.LOOSENED: _LOOSER})
def field_item_count_widened(change: Change) -> str:
    """The allowed number of array elements is wider than before.

    Why it hurts: a reader that always uses the first element may find none.

    Example: `lines` may be empty for gift cards.
    """
    return f"field {change.field!r} element count widened: {change.before} -> {change.after}; readers may see more"


@kind(
    "field.pattern",
    {
        Direction.ADDED: _TIGHTER,
        Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
        Direction.REMOVED: _LOOSER,
    },
)
def field_pattern_changed(change: Change) -> str:
    """The pattern of a text was added, removed or changed.

    Why it hurts: existing texts may not match the new pattern, and readers that parse with the old one may fail on new
    texts. Two patterns cannot be compared in general, so a different pattern counts as both tighter and looser;
    removing a pattern is MINOR.

    Example: `sku` goes from `^[A-Z]{3}-[0-9]{5}$` to `^[A-Z]{4}[0-9]{6}$`.

    Instead: allow both forms in one pattern as long as both are in use.
    """
    return f"field {change.field!r} pattern changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind(
    "field.format",
    {
        Direction.ADDED: _TIGHTER,
        Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
        Direction.REMOVED: _LOOSER,
    },
)
def field_format_changed(change: Change) -> str:
    """The format of a text or date was added, removed or changed: email, uuid, `yyyy-MM-dd` and so on.

    Why it hurts: parsers expect one format. A swapped day and month often raises no error.

    Example: `delivery_date` goes from `yyyy-MM-dd` to `dd.MM.yyyy`.

    Instead: add a second field in the new format, or use a real date type.
    """
    return f"field {change.field!r} format changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.unique", {Direction.TIGHTENED: _TIGHTER})
def field_unique_added(change: Change) -> str:
    """A field's values, or an array's elements, must now be unique.

    Why it hurts: duplicates in existing data fail the new contract.

    Example: `email` becomes unique after a merge of two systems.
    """
    return f"field {change.field!r} must be unique now; old data may have duplicates"


@kind("field.unique", {Direction.LOOSENED: Grade(Bump.MAJOR, READERS)})
def field_unique_removed(change: Change) -> str:
    """A field's values, or an array's elements, no longer have to be unique.

    Why it hurts: a join on the field multiplies rows, and sums are too high without any error.

    Example: `order_id` repeats because one row is now one shipment.

    Instead: publish the finer rows as a separate contract, and keep the unique rows as an aggregate of it.
    """
    return f"field {change.field!r} is no longer unique; joins on it may multiply rows"


@kind(
    "field.default",
    {
        direction: Grade(Bump.MINOR, caution=True)
        for direction in (Direction.ADDED, Direction.REMOVED, Direction.REPLACED)
    },
)
def field_default_changed(change: Change) -> str:
    """The default value of a field was added, removed or changed.

    Why it hurts: the same stored row is read with a different value.

    Example: `currency` defaults to EUR instead of USD.
    """
    return f"field {change.field!r} default changed: {abbreviate(change.before)} -> {abbreviate(change.after)}"


@kind(
    "field.constraint",
    {direction: Grade(Bump.MAJOR, BOTH) for direction in (Direction.ADDED, Direction.REMOVED, Direction.REPLACED)},
)
def field_constraint_changed(change: Change) -> str:
    """Another option of a field's type changed: `multipleOf`, `minProperties`, `required` names of an object.

    Why it hurts: Treaty cannot tell whether the change is tighter or looser, so it counts as both.

    Example: `multipleOf: 0.01` becomes `multipleOf: 0.05`.
    """
    return f"field {change.field!r} {change.subject} changed: {abbreviate(change.before)} -> {abbreviate(change.after)}"
