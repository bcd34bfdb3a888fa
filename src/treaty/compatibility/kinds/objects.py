"""Schema objects (tables, topics, files) and their keys."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import BOTH, READERS, Grade, format_before_after, kind
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump


@kind("contract.id", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def contract_id_changed(change: Change) -> str:
    """The contract goes by another id.

    Why it hurts: consumers subscribe to an id. Under another one it is another contract, and theirs stands still.

    Example: `users.daily_active` becomes `growth.daily_active`.

    Instead: register the new id as a contract of its own and deprecate the old one with a `replacement`.
    """
    return f"contract id changed: {change.before} -> {change.after}"


@kind("object.presence", {Direction.REMOVED: Grade(Bump.MAJOR, BOTH)})
def object_removed(change: Change) -> str:
    """A table, topic or file is gone from the contract.

    Why it hurts: whoever reads it finds nothing.

    Example: `order_lines` is folded into `orders`.

    Instead: in a new MAJOR version, while the old line keeps serving the object.
    """
    return f"schema object {change.subject!r} was removed"


@kind("object.presence", {Direction.ADDED: Grade(Bump.MINOR)})
def object_added(change: Change) -> str:
    """A table, topic or file is new in the contract.

    Example: `order_lines` is published beside `orders`.
    """
    return f"schema object {change.subject!r} added"


@kind("object.name", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)})
def object_renamed(change: Change) -> str:
    """A table, topic or file has a new name; its stable `id` shows that it is the same.

    Why it hurts: whoever asks for the old name finds nothing.

    Example: `orders` becomes `sales_orders`, both with `id: orders`.
    """
    return f"schema object {change.before!r} was renamed to {change.after!r}"


@kind("object.physical_name", {Direction.REPLACED: Grade(Bump.MAJOR, READERS)})
def object_physical_name_changed(change: Change) -> str:
    """The table or topic behind an object has another name.

    Why it hurts: queries name tables, not contracts.

    Example: `physicalName: orders_v1` becomes `physicalName: orders_final`.

    Instead: leave a view under the old name for the migration window.
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
    """What one row stands for came, went or changed.

    Why it hurts: counts and sums over the same columns come out different.

    Example: one row per order becomes one row per order line.

    Instead: publish the other grain as an object of its own.
    """
    return f"{change.subject} changed: {abbreviate(change.before or 'none')} -> {abbreviate(change.after or 'none')}"


@kind(
    "object.metadata",
    {direction: Grade(Bump.PATCH) for direction in (Direction.REPLACED, Direction.ADDED, Direction.REMOVED)},
)
def object_metadata_changed(change: Change) -> str:
    """Something about an object changed that no reader's code depends on: tags, business name, notes.

    Example: a tag is added.
    """
    return f"{change.subject} changed{format_before_after(change)}"


@kind("object.primary_key", {Direction.REPLACED: Grade(Bump.MAJOR, BOTH)}, always=True)
def primary_key_changed(change: Change) -> str:
    """The primary key has other fields, or the same in another order.

    Why it hurts: deduplication, merges and joins all rest on the key. With another key the same rows are other rows.
    It is refused in every mode.

    Example: `[user_id]` becomes `[user_id, active_date]`.

    Instead: a new MAJOR version with a `migration:` block, served beside the old line.
    """
    return f"primary_key changed: {list(change.before)} -> {list(change.after)}"
