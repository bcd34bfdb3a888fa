"""Data policy: masks, purposes, regions, the age of rows, and what they change for consumers."""

from __future__ import annotations

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds.table import READERS, Grade, kind
from treaty.contracts.versions import Bump

_NOTED = Grade(Bump.PATCH, caution=True)


@kind(
    "data_policy.masks",
    dict.fromkeys((Direction.TIGHTENED, Direction.ADDED, Direction.REPLACED), _NOTED),
)
def mask_strengthened(change: Change) -> str:
    """A mask was added, is stricter or differs, or fewer purposes see clear values.

    PATCH for consumers that read the same as before. Where consumers are known, those that read something else are
    named by `effective_view_changed`.

    Example: fields classified as `restricted` are hashed, and were generalised before.
    """
    return f"{change.subject}: {change.before or 'no mask'} -> {change.after}"


@kind("data_policy.masks", dict.fromkeys((Direction.LOOSENED, Direction.REMOVED), _NOTED))
def mask_weakened(change: Change) -> str:
    """A mask was removed or reveals more, or more purposes see clear values.

    Check that it is allowed: values that were served once cannot be taken back. Consumers that read something else are
    named by `effective_view_changed`.

    Example: the purpose `fraud detection` is added to `clear_for`.
    """
    return f"{change.subject}: {change.before} -> {change.after or 'no mask'}"


@kind("data_policy.purposes", dict.fromkeys((Direction.TIGHTENED, Direction.REPLACED), _NOTED))
def purposes_restricted(change: Change) -> str:
    """Fewer purposes may read the data, or others than before.

    PATCH for consumers whose purpose is still allowed; the others are named by `effective_view_changed`.

    Example: `marketing` is removed from `purposes`.
    """
    return f"purposes allowed: {change.before} -> {change.after}"


@kind("data_policy.purposes", {Direction.LOOSENED: _NOTED})
def purposes_extended(change: Change) -> str:
    """More purposes may read the data.

    Example: `analytics` is added to `purposes`.
    """
    return f"purposes allowed: {change.before} -> {change.after}"


@kind(
    "data_policy.residency",
    {direction: Grade(Bump.MAJOR, READERS) for direction in (Direction.TIGHTENED, Direction.REPLACED)},
)
def residency_restricted(change: Change) -> str:
    """Rows of a region may be served in fewer places, or the region is read from another column.

    Why it hurts: consumers that are served in such a place no longer get these rows, without an error.

    Example: rows of `DE` may be served in `eu` only, and could be served in `us`.

    Instead: serve the consumers in an allowed region first, and publish a MAJOR version with a migration window.
    """
    return f"rows are served in fewer or other places: {change.before} -> {change.after}"


@kind("data_policy.residency", {Direction.LOOSENED: Grade(Bump.MINOR, caution=True)})
def residency_extended(change: Change) -> str:
    """Rows of a region may be served in more places.

    Check that it is allowed: rows that have left a region cannot be taken back.

    Example: rows of `US` may be served in `eu` as well.
    """
    return f"rows are served in more places: {change.before} -> {change.after}"


@kind(
    "data_policy.retention",
    {direction: Grade(Bump.MAJOR, READERS) for direction in (Direction.TIGHTENED, Direction.REPLACED)},
)
def row_retention_shortened(change: Change) -> str:
    """Rows are served for a shorter time, or their age is counted from another column.

    Why it hurts: consumers no longer get older rows, without an error.

    Example: rows are served for 400 days, and were served for three years.

    Instead: agree on the change with the consumers, and publish a MAJOR version with a migration window.
    """
    return f"rows are served for a shorter or another time: {change.before} -> {change.after}"


@kind("data_policy.retention", {Direction.LOOSENED: Grade(Bump.MINOR, caution=True)})
def row_retention_extended(change: Change) -> str:
    """Rows are served for a longer time, or without a limit.

    Check that it is legal for personal data.

    Example: rows are served for three years instead of 400 days.
    """
    return f"rows are served for a longer time: {change.before} -> {change.after}"


@kind(
    "data_policy.effective_view",
    {
        Direction.TIGHTENED: Grade(Bump.MAJOR, READERS),
        Direction.REPLACED: Grade(Bump.MAJOR, READERS),
        Direction.LOOSENED: Grade(Bump.MINOR, caution=True),
    },
)
def effective_view_changed(change: Change) -> str:
    """What consumers read of a field changes, because of a mask, a purpose or a classification.

    Reported where consumers are known: `treaty check`, `treaty consumer impact` and the registry compare the effective
    view of each consumer before and after the change.

    Why it hurts: a consumer that read clear values gets hashes or nothing, or its hashes no longer match those that it
    has stored. A consumer that reads more than before can still work: MINOR.

    Example: `email` is now classified as `restricted`, and a policy hashes restricted fields for the purpose
    `analytics`.

    Instead: agree on the change with the consumers that are named, and publish a MAJOR version with a migration window.
    """
    what = f"field {change.field!r}" if change.field else change.subject
    return f"{what} is read differently by {', '.join(change.consumers)}: {change.before} -> {change.after}"
