"""Fields that come, go, change their name or their type."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, DATA, READERS, Grade, format_before_after, kind
from treaty.contracts.versions import Bump


@kind("field.presence", {Direction.REMOVED: Grade(Bump.MAJOR, DATA)})
def field_removed(change: Change) -> str:
    """A field is gone.

    Why it hurts: every query, join and model that names the field stops working, or reads null without a word.
    Data written before no longer fits the contract, which does not know the field. This holds for optional fields
    too: optional says that a row may lack it, not that nobody reads it.

    Example: `ltv` is deleted because the producer never uses it; three dashboards join on it.

    Instead: mark the field `deprecated: true`, see who still reads it, and remove it in a new MAJOR version with a
    `migration:` block. If it was renamed, give both fields the same `id`.
    """
    return f"field {change.field!r} was removed; old data will fail validation"


@kind("field.presence", {Direction.ADDED: Grade(Bump.MINOR)})
def field_added(change: Change) -> str:
    """An optional field is new.

    Nobody has to do anything: readers ignore what they do not know, and rows without the field stay valid.

    Example: `signup_source` joins `users.daily_active`, `required: false`.
    """
    return f"optional field {change.field!r} added"


@kind(
    "field.required",
    {Direction.TIGHTENED: Grade(Bump.MAJOR, DATA), Direction.ADDED: Grade(Bump.MAJOR, READERS)},
)
def field_required_added(change: Change) -> str:
    """A field that rows must have: an optional one became required, or a new one came as required.

    Why it hurts: rows written before may lack the value and fail validation. A new required field also asks every
    writer and reader of the old shape for something they know nothing about.

    Example: `phone` goes from optional to required; the rows of the last three years have none.

    Instead: add it as optional with a `default`, fill it everywhere, and require it in the next MAJOR version.
    """
    if change.direction is Direction.ADDED:
        return f"required field {change.field!r} added; consumers on the old schema won't know how to populate it"
    return f"field {change.field!r} was optional, now required; old rows missing it will fail"


@kind("field.required", {Direction.LOOSENED: Grade(Bump.MINOR, READERS)})
def field_required_removed(change: Change) -> str:
    """A required field became optional.

    Why it hurts: a reader that never met a null in this field may meet one now. Old data stays valid, so this is a
    MINOR change; under `forward` and `full` it is refused.

    Example: `phone` is no longer asked for at checkout.

    Instead: tell the readers of the field what a missing value means, and give it a `default` if there is one.
    """
    return f"field {change.field!r} was required, now optional; readers may meet rows without it"


@kind("field.name", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def field_renamed(change: Change) -> str:
    """A field has a new name; its stable `id` shows that it is the same field.

    Why it hurts: whoever asks for the old name finds nothing, and data under the old name does not fit.

    Example: `customer_ref` becomes `customer_id`, both with `id: customer`.

    Instead: in a new MAJOR version, with a `migration:` block. Because the rename is declared, the old shape can be
    served from the new data without loss.
    """
    return f"field {change.before!r} was renamed to {change.after!r}"


@kind(
    "field.type",
    {
        Direction.REPLACED: Grade(Bump.MAJOR, DATA),
        Direction.TIGHTENED: Grade(Bump.MAJOR, DATA),
        Direction.REMOVED: Grade(Bump.MAJOR, DATA),
        Direction.ADDED: Grade(Bump.MINOR, caution=True),
    },
)
def field_type_changed(change: Change) -> str:
    """A field has another type, or a narrower one.

    Why it hurts: values are cast in silence, lose digits or become null; joins stop matching. A narrower type
    (long to int) cannot hold what was written before.

    Example: `id` goes from integer to string, and every join on it compares text with numbers.

    Instead: add a second field of the new type beside the old one, move the readers, remove the old field in a MAJOR
    version. A wider type of the same family is `field_type_widened`.
    """
    if change.direction is Direction.ADDED:
        return f"field {change.field!r} now declares its type: {change.after}"
    moved = f"{change.before} -> {change.after or 'none'}"
    return f"field {change.field!r} type changed: {moved}; values from old schema may not round-trip"


@kind("field.type", {Direction.LOOSENED: Grade(Bump.MINOR, READERS)})
def field_type_widened(change: Change) -> str:
    """A field has a wider type of the same family.

    int to long, float to double, or more decimal digits at the same scale: every old value is still a value.

    Why it hurts: a reader built for the narrow type may overflow on new values. Old data stays valid, so this is a
    MINOR change with a warning; under `forward` and `full` it is refused.

    Example: `order_number` goes from i32 to i64 before it runs out.

    Instead: check that readers bind the wide type before values grow past the old one.
    """
    moved = f"{change.before} -> {change.after}"
    return f"field {change.field!r} type widened: {moved}; readers built for the old width may overflow"


@kind(
    "field.physical_type",
    {
        direction: Grade(Bump.MINOR, caution=True)
        for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)
    },
)
def field_physical_type_changed(change: Change) -> str:
    """A field is stored in another type, while its logical type stays.

    Why it hurts: readers that bind the stored type themselves (JDBC, copied DDL) may have to follow.

    Example: `varchar` becomes `text`.
    """
    return f"field {change.field!r} stored type changed: {change.before or 'none'} -> {change.after or 'none'}"


@kind("field.physical_name", {Direction.REPLACED: Grade(Bump.MAJOR, READERS)})
def field_physical_name_changed(change: Change) -> str:
    """The column behind a field has another name.

    Why it hurts: SQL names columns, not contract fields. Every query on the old column fails.

    Example: `physicalName: cust_id` becomes `physicalName: customer_id`.

    Instead: keep the old column in place as an alias until its readers have moved to a new MAJOR version.
    """
    moved = f"{change.before!r} to {change.after!r}"
    return f"field {change.field!r} moved from column {moved}; queries on the old column will fail"


@kind("field.deprecated", {Direction.ADDED: Grade(Bump.MINOR, caution=True)})
def field_deprecated(change: Change) -> str:
    """A field is marked as deprecated.

    Nothing breaks yet. Its readers should move on before the MAJOR version that removes it.

    Example: `channel` is deprecated in favour of `sales_channel`.
    """
    return f"field {change.field!r} is deprecated; its readers should move on"


@kind("field.deprecated", {Direction.REMOVED: Grade(Bump.PATCH)})
def field_undeprecated(change: Change) -> str:
    """A field is no longer marked as deprecated.

    Example: `channel` stays after all.
    """
    return f"field {change.field!r} is no longer deprecated"


@kind(
    "field.metadata",
    {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)},
)
def field_metadata_changed(change: Change) -> str:
    """Something about a field changed that no reader's code depends on: tags, examples, partitioning, transform notes.

    Example: an example value is added.
    """
    return f"field {change.field!r}: {change.subject} changed{format_before_after(change)}"
