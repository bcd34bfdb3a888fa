"""The ledger entry of a defect: what was done to the event and the expected outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What has to become of a defect."""

    QUARANTINED = "quarantined"
    DEDUPLICATED = "deduplicated"
    LATE = "late"
    """Taken in whenever it comes; nothing newer of its key is there yet."""
    LATE_NOT_OVERWRITING = "late_not_overwriting"
    """Counted, but something newer of its key is there and stays."""
    EXCEPTION = "exception"
    DROPPED = "dropped"
    """Reported as a gap in the sequence of its key."""
    RESOLVED = "resolved"
    """Ends an exception or fills a gap of an earlier wave."""
    UPDATED = "updated"
    """Changes the state of something that an earlier wave had settled."""


class Reason(StrEnum):
    """The class of a reconciliation exception; its key is the order."""

    MISSING = "missing"
    CONFLICT = "conflict"
    LATE = "late"
    DUPLICATE = "duplicate"
    IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class Mark:
    """A defect of one line, or of one that never came."""

    defect: str
    detail: str
    outcome: Outcome
    event_id: str
    order_id: str
    key: str
    rule: str | None = None
    field: str | None = None
    exception: Reason | None = None
    """The exception that the order is in, or, where the outcome is resolved, no longer is in."""
    assertion: str | None = None
    """Who disagrees or is missing: order, payment, shipment or return."""
    resolved_in_wave: int | None = None
