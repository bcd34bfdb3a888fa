"""Which values a field may hold."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, DATA, READERS, Grade, kind
from treaty.compatibility.terms.comparison import distinct
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump

_TIGHTER = Grade(Bump.MAJOR, DATA)
_LOOSER = Grade(Bump.MINOR, READERS)


def _spelt(value: tuple[bool, object]) -> str:
    return str(value[1]).lower() if value[0] else str(value[1])


@kind("field.enum", {Direction.TIGHTENED: _TIGHTER})
def field_enum_shrunk(change: Change) -> str:
    """A field allows fewer values than before.

    Why it hurts: rows with a removed value are in the data already and fail the new contract.

    Example: `plan` loses `enterprise` while customers still have it.

    Instead: keep the value and say in its description that no new row carries it; remove it in a MAJOR version.
    """
    removed = sorted(map(_spelt, distinct(change.before) - distinct(change.after)))
    return f"field {change.field!r} enum shrunk; removed values {removed} may appear in old data"


@kind("field.enum", {Direction.LOOSENED: _LOOSER})
def field_enum_expanded(change: Change) -> str:
    """A field allows more values than before.

    Adding a value is fine for the data and is MINOR. A reader that switches over the known values may fall through
    on the new one; under `forward` and `full` it is refused.

    Example: `segment` gains `employee`.

    Instead: tell readers what the new value means before the first row has it.
    """
    added = sorted(map(_spelt, distinct(change.after) - distinct(change.before)))
    return f"field {change.field!r} enum expanded with {added}; readers may meet a value they do not know"


@kind("field.enum", {Direction.ADDED: _TIGHTER})
def field_enum_added(change: Change) -> str:
    """A field that took any value now takes a list of them.

    Why it hurts: rows with any other value are in the data already and fail the new contract.

    Example: free-text `country` becomes an enum of forty codes.

    Instead: profile the data first; clean or map what does not fit, then restrict in a MAJOR version.
    """
    return f"field {change.field!r} now takes only {abbreviate(list(change.after))}; other values may be in old data"


@kind("field.enum", {Direction.REMOVED: _LOOSER})
def field_enum_removed(change: Change) -> str:
    """A field that took a list of values now takes any.

    Why it hurts: readers that switch over the listed values may meet anything.

    Example: the list of payment providers is dropped because it changes weekly.
    """
    return f"field {change.field!r} no longer lists its values; readers may meet any"


@kind("field.range", {Direction.TIGHTENED: _TIGHTER, Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def field_range_narrowed(change: Change) -> str:
    """A field's smallest or largest value moved inwards.

    Why it hurts: rows outside the new range are in the data already and fail the new contract.

    Example: `quantity` is at most 99, before 999.

    Instead: keep the old range, and check the tighter one as a quality rule with a threshold until the data fits.
    """
    return f"field {change.field!r} range narrowed: {change.before} -> {change.after}; old values may fall outside"


@kind("field.range", {Direction.LOOSENED: _LOOSER})
def field_range_widened(change: Change) -> str:
    """A field's smallest or largest value moved outwards.

    Why it hurts: a reader that relied on the old bounds (array sizes, display, sign) may meet values outside them.

    Example: `discount` may now be negative.
    """
    return f"field {change.field!r} range widened: {change.before} -> {change.after}; readers may meet other values"


@kind("field.length", {Direction.TIGHTENED: _TIGHTER})
def field_length_narrowed(change: Change) -> str:
    """A text must be longer, or may be less long, than before.

    Why it hurts: old texts outside the new length fail, or are cut where nobody looks.

    Example: `sku` is at most 12 characters, before 20.
    """
    return f"field {change.field!r} length narrowed: {change.before} -> {change.after}; old texts may not fit"


@kind("field.length", {Direction.LOOSENED: _LOOSER})
def field_length_widened(change: Change) -> str:
    """A text may be longer, or shorter, than before.

    Why it hurts: a reader with a column of the old length cuts or refuses the new texts.

    Example: `sku` grows from 12 to 20 characters.
    """
    return f"field {change.field!r} length widened: {change.before} -> {change.after}; readers may cut new texts"


@kind("field.item_count", {Direction.TIGHTENED: _TIGHTER})
def field_item_count_narrowed(change: Change) -> str:
    """An array must have more, or may have fewer, elements than before.

    Why it hurts: old rows with another number of elements fail the new contract.

    Example: `lines` needs at least one element; returns were stored with none.
    """
    return f"field {change.field!r} element count narrowed: {change.before} -> {change.after}; old rows may not fit"


@kind("field.item_count", {Direction.LOOSENED: _LOOSER})
def field_item_count_widened(change: Change) -> str:
    """An array may have fewer, or more, elements than before.

    Why it hurts: a reader that took the first element for granted may find none.

    Example: `lines` may be empty for gift cards.
    """
    return f"field {change.field!r} element count widened: {change.before} -> {change.after}; readers may meet others"


@kind(
    "field.pattern",
    {
        Direction.ADDED: _TIGHTER,
        Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
        Direction.REMOVED: _LOOSER,
    },
)
def field_pattern_changed(change: Change) -> str:
    """The pattern a text must match came, went or changed.

    Why it hurts: old texts may not match a new pattern, and readers that parse by the old one may fail on new texts.
    Two patterns cannot be compared in general, so another pattern counts as tighter and looser at once; a pattern
    that is only taken away is MINOR.

    Example: `sku` goes from `^[A-Z]{3}-[0-9]{5}$` to `^[A-Z]{4}[0-9]{6}$`.

    Instead: allow both forms in one pattern while they live side by side.
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
    """The format of a text or date came, went or changed: email, uuid, `yyyy-MM-dd` and the like.

    Why it hurts: parsers are written for one format. A day and a month that trade places raise no error at all.

    Example: `delivery_date` goes from `yyyy-MM-dd` to `dd.MM.yyyy`.

    Instead: add a second field in the new format, or use a real date type.
    """
    return f"field {change.field!r} format changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.unique", {Direction.TIGHTENED: _TIGHTER})
def field_unique_added(change: Change) -> str:
    """A field's values, or an array's elements, must now be unique.

    Why it hurts: duplicates in old data fail the new contract.

    Example: `email` becomes unique after two systems were merged.
    """
    return f"field {change.field!r} must be unique now; old data may have duplicates"


@kind("field.unique", {Direction.LOOSENED: Grade(Bump.MAJOR, READERS)})
def field_unique_removed(change: Change) -> str:
    """A field's values, or an array's elements, need no longer be unique.

    Why it hurts: a join on the field multiplies rows, and sums come out too high without any error.

    Example: `order_id` repeats because one row is now one shipment.

    Instead: publish the finer rows as a contract of their own; keep the unique one as an aggregate of it.
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
    """The value readers take where a row has none came, went or changed.

    Why it hurts: the same stored row reads differently from one day to the next.

    Example: `currency` defaults to EUR, before to USD.
    """
    return f"field {change.field!r} default changed: {abbreviate(change.before)} -> {abbreviate(change.after)}"


@kind(
    "field.constraint",
    {direction: Grade(Bump.MAJOR, BOTH) for direction in (Direction.ADDED, Direction.REMOVED, Direction.REPLACED)},
)
def field_constraint_changed(change: Change) -> str:
    """Another option of a field's type changed: `multipleOf`, `minProperties`, `required` names of an object.

    Why it hurts: whether it is tighter or looser cannot be told, so it counts as both.

    Example: `multipleOf: 0.01` becomes `multipleOf: 0.05`.
    """
    return f"field {change.field!r} {change.subject} changed: {abbreviate(change.before)} -> {abbreviate(change.after)}"
