"""Schema objects (tables, topics, files) and their keys."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, READERS, Grade, format_before_after, kind
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump


@kind("contract.id", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def contract_id_changed(change: Change) -> str:
    """The contract has a different id.

    Why it hurts: consumers subscribe to an id. A different id is a different contract, and theirs gets no new versions.

    Example: `users.daily_active` becomes `growth.daily_active`.

    Instead: register a separate contract under the new id, and deprecate the old one with a `replacement`.
    """
    return f"contract id changed: {change.before} -> {change.after}"


@kind("object.presence", {Direction.REMOVED: Grade(Bump.MAJOR, BOTH)})
def object_removed(change: Change) -> str:
    """A table, topic or file was removed from the contract.

    Why it hurts: its readers find no data.

    Example: `order_lines` is merged into `orders`.

    Instead: remove it in a new MAJOR version while the old line keeps serving it.
    """
    return f"schema object {change.subject!r} was removed"


@kind("object.presence", {Direction.ADDED: Grade(Bump.MINOR)})
def object_added(change: Change) -> str:
    """A table, topic or file was added to the contract.

    Example: `order_lines` is published in addition to `orders`.
    """
    return f"schema object {change.subject!r} added"


@kind("object.name", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def object_renamed(change: Change) -> str:
    """A table, topic or file has a new name; its stable `id` shows that it is the same object.

    Why it hurts: queries for the old name find nothing.

    Example: `orders` becomes `sales_orders`, both with `id: orders`.
    """
    return f"schema object {change.before!r} was renamed to {change.after!r}"


@kind("object.physical_name", {Direction.REPLACED: Grade(Bump.MAJOR, READERS)})
def object_physical_name_changed(change: Change) -> str:
    """The table or topic behind an object has a new name.

    Why it hurts: queries refer to tables, not to contracts.

    Example: `physicalName: orders_v1` becomes `physicalName: orders_final`.

    Instead: keep a view under the old name during the migration window.
    """
    return f"{change.subject} changed: {change.before!r} -> {change.after!r}; queries on the old name will fail"


@kind(
    "object.granularity",
    {
        Direction.REPLACED: Grade(Bump.MAJOR, BOTH),
        Direction.REMOVED: Grade(Bump.MAJOR, BOTH),
        Direction.ADDED: Grade(Bump.MINOR, caution=True),
    },
)
def object_granularity_changed(change: Change) -> str:
    """The description of what one row represents was added, removed or changed.

    Why it hurts: counts and sums over the same columns give different results.

    Example: one row per order becomes one row per order line.

    Instead: publish the other granularity as a separate object.
    """
    return f"{change.subject} changed: {abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"


@kind(
    "object.metadata",
    {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)},
)
def object_metadata_changed(change: Change) -> str:
    """Metadata of an object changed that no reader depends on: tags, business name, notes.

    Example: a tag was added.
    """
    return f"{change.subject} changed{format_before_after(change)}"


@kind(
    "foreign",
    {direction: Grade(Bump.MAJOR, BOTH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)},
)
def foreign_construct_changed(change: Change) -> str:
    """Something that a foreign schema says, and that contracts have no place for, was added, removed or changed.

    Why it hurts: it may, for example, accept less data or send readers values of another type. Treaty keeps such a
    construct as text and can tell that it differs, but not what the difference means, so the change cannot be judged.

    Example: `patternProperties` of a JSON Schema, or the branches of an Avro union, are different.

    Instead: compare both versions in the format's own tool. If the change is harmless, waive it or re-grade this kind
    under `grading:` in `treaty.yaml`; otherwise publish a new MAJOR version with a `migration:` block.
    """
    place = f"field {change.field!r}: " if change.field else ""
    moved = f"{abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"
    return f"{place}{change.subject} changed: {moved}; what this means for data and readers cannot be judged"


@kind("foreign.part", {Direction.ADDED: Grade(Bump.MINOR)})
def foreign_part_added(change: Change) -> str:
    """A foreign schema has one more part beside its data: a call, an extension, a value of an enum that no field uses.

    No action is needed: existing data and readers do not know the part. If such a part is removed or changed, the
    change is reported as `foreign_construct_changed`.

    Example: a service in a .proto file has one more `rpc`.
    """
    return f"{change.subject} added: {abbreviate(change.after)}"


@kind("object.primary_key", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)}, always=True)
def primary_key_changed(change: Change) -> str:
    """The primary key has different fields, or the same fields in a different order.

    Why it hurts: deduplication, merges and joins all depend on the key; a different key identifies different rows.
    Every mode refuses it.

    Example: `[user_id]` becomes `[user_id, active_date]`.

    Instead: publish a new MAJOR version with a `migration:` block, next to the old line.
    """
    return f"primary_key changed: {list(change.before)} -> {list(change.after)}"
