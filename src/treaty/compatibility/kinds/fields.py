"""Fields that are added, removed or renamed, or whose type changes."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, DATA, READERS, Grade, format_before_after, kind
from treaty.contracts.model import MissingAs
from treaty.contracts.versions import Bump


@kind("field.presence", {Direction.REMOVED: Grade(Bump.MAJOR, DATA)})
def field_removed(change: Change) -> str:
    """A field was removed.

    Why it hurts: every query, join and model that names the field stops working, or silently reads null.
    Existing data no longer matches the contract. This is true of optional fields as well: optional means that a row
    may lack the field, not that no consumer reads it.

    Example: `ltv` is deleted because the producer never uses it, but three dashboards join on it.

    Instead: mark the field `deprecated: true`, check which consumers still read it, and remove it in a new MAJOR
    version with a `migration:` block. If it was renamed, give both fields the same `id`.
    """
    return f"field {change.field!r} was removed; old data will fail validation"


@kind("field.presence", {Direction.ADDED: Grade(Bump.MINOR)})
def field_added(change: Change) -> str:
    """An optional field was added.

    No action is needed: readers ignore fields they do not know, and rows without the field stay valid.

    Example: `signup_source` is added to `users.daily_active` with `required: false`.
    """
    return f"optional field {change.field!r} added"


@kind(
    "field.required",
    {Direction.TIGHTENED: Grade(Bump.MAJOR, DATA), Direction.ADDED: Grade(Bump.MAJOR, READERS)},
)
def field_required_added(change: Change) -> str:
    """An optional field became required, or a new field is required.

    Why it hurts: existing rows may lack the value and fail validation. A new required field also demands a value from
    writers and readers that still use the old schema. The same kind is reported if an optional field must no longer be
    null, or no longer be absent (`treaty.missing_as`).

    Example: `phone` goes from optional to required, but rows of the last three years have no value.

    Instead: add the field as optional with a `default`, backfill it, and make it required in the next MAJOR version.
    """
    if change.direction is Direction.ADDED:
        return f"required field {change.field!r} added; consumers on the old schema won't know how to populate it"
    if change.after is not True:
        way = "null" if change.after == MissingAs.ABSENT else "left out"
        return f"field {change.field!r} may no longer be {way}; old rows in which it is will fail"
    return f"field {change.field!r} was optional, now required; old rows missing it will fail"


@kind("field.required", {Direction.LOOSENED: Grade(Bump.MINOR, READERS)})
def field_required_removed(change: Change) -> str:
    """A required field became optional.

    Why it hurts: a reader that never saw a null in this field may see one now. Existing data stays valid, so this is a
    MINOR change; the modes `forward` and `full` refuse it. The same kind is reported if an optional field may now be
    null, or absent, and could not be before.

    Example: checkout no longer asks for `phone`.

    Instead: tell the readers of the field what a missing value means, and give it a `default` if there is one.
    """
    if change.before is not True:
        way = "null" if change.before == MissingAs.ABSENT else "left out"
        return f"field {change.field!r} may now be {way}; readers may see rows in which it is"
    return f"field {change.field!r} was required, now optional; readers may see rows without it"


@kind("field.name", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def field_renamed(change: Change) -> str:
    """A field has a new name; its stable `id` shows that it is the same field.

    Why it hurts: queries for the old name find nothing, and existing data still uses the old name.

    Example: `customer_ref` becomes `customer_id`, both with `id: customer`.

    Instead: rename the field in a new MAJOR version with a `migration:` block. Because the rename is declared, the old
    schema can be served from the new data without loss.
    """
    return f"field {change.before!r} was renamed to {change.after!r}"


@kind(
    "field.type",
    {
        Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
        Direction.TIGHTENED: Grade(Bump.MAJOR, DATA),
        Direction.REMOVED: Grade(Bump.MAJOR, BOTH),
        Direction.ADDED: Grade(Bump.MINOR, caution=True),
    },
)
def field_type_changed(change: Change) -> str:
    """A field has a different or a narrower type.

    Why it hurts: values are silently cast, lose digits or become null; joins stop matching. A narrower type
    (long to int) cannot hold all existing values; readers of the old type can still read it. Any other type breaks
    existing readers as well: they cannot parse the new values.

    Example: `id` goes from integer to string, so every join on it compares text with numbers.

    Instead: add a second field with the new type, move the readers to it, and remove the old field in a MAJOR version.
    A wider type of the same family is reported as `field_type_widened`.
    """
    if change.direction is Direction.ADDED:
        return f"field {change.field!r} now declares its type: {change.after}"
    moved = f"{change.before} -> {change.after or 'none'}"
    return f"field {change.field!r} type changed: {moved}; values from old schema may not round-trip"


@kind("field.type", {Direction.LOOSENED: Grade(Bump.MINOR, READERS)})
def field_type_widened(change: Change) -> str:
    """A field has a wider type of the same family.

    int to long, float to double, more decimal digits at the same scale, or one more branch of a union: every existing
    value is still valid.

    Why it hurts: a reader built for the narrow type may overflow on new values. Existing data stays valid, so this
    is a MINOR change with a warning; the modes `forward` and `full` refuse it.

    Example: `order_number` goes from i32 to i64 before it overflows.

    Instead: make sure that readers use the wider type before values exceed the old one.
    """
    moved = f"{change.before} -> {change.after}"
    is_union = str(change.before).startswith("union of ")
    risk = "the old branches may see others" if is_union else "the old width may overflow"
    return f"field {change.field!r} type widened: {moved}; readers built for {risk}"


@kind(
    "field.physical_type",
    {
        direction: Grade(Bump.MINOR, caution=True)
        for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)
    },
)
def field_physical_type_changed(change: Change) -> str:
    """A field is stored with a different physical type; its logical type is unchanged.

    Why it hurts: readers that depend on the stored type (JDBC, copied DDL) may have to be changed.

    Example: `varchar` becomes `text`.
    """
    return f"field {change.field!r} stored type changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.physical_name", {Direction.REPLACED: Grade(Bump.MAJOR, READERS)})
def field_physical_name_changed(change: Change) -> str:
    """The column behind a field has a new name.

    Why it hurts: SQL queries refer to columns, not to contract fields. Every query on the old column fails.

    Example: `physicalName: cust_id` becomes `physicalName: customer_id`.

    Instead: keep the old column as an alias until its readers have moved to the new MAJOR version.
    """
    moved = f"{change.before!r} to {change.after!r}"
    return f"field {change.field!r} moved from column {moved}; queries on the old column will fail"


@kind("field.deprecated", {Direction.ADDED: Grade(Bump.MINOR, caution=True)})
def field_deprecated(change: Change) -> str:
    """A field was marked as deprecated.

    Nothing breaks yet. Readers should stop using the field before the MAJOR version that removes it.

    Example: `channel` is deprecated in favour of `sales_channel`.
    """
    return f"field {change.field!r} is deprecated; readers should stop using it"


@kind("field.deprecated", {Direction.REMOVED: Grade(Bump.PATCH)})
def field_undeprecated(change: Change) -> str:
    """A field is no longer marked as deprecated.

    Example: `channel` is kept after all.
    """
    return f"field {change.field!r} is no longer deprecated"


@kind(
    "field.business_name",
    {
        direction: Grade(Bump.PATCH, caution=True)
        for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)
    },
)
def field_business_name_changed(change: Change) -> str:
    """The business name of a field was added, removed or changed.

    The business name is a label for people. Queries use the name of the field, so nothing breaks: PATCH, with a
    warning, because a new label may mean that the field now holds something else.

    Example: "Net amount" becomes "Amount".

    Instead: if the meaning changed, change the unit, semantic type or definition as well, so that it is graded.
    """
    return (
        f"field {change.field!r} business name changed: {change.before or 'none'} -> {change.after or 'none'}; "
        "check that it still names the same thing"
    )


@kind(
    "field.metadata",
    {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)},
)
def field_metadata_changed(change: Change) -> str:
    """Metadata of a field changed that no reader depends on: tags, examples, partitioning, transformation notes.

    Example: an example value was added.
    """
    return f"field {change.field!r}: {change.subject} changed{format_before_after(change)}"
