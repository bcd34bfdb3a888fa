"""The ledger entry of a defect: what was done to the event and the expected outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The expected outcome of a defect."""

    QUARANTINED = "quarantined"
    DEDUPLICATED = "deduplicated"
    LATE = "late"
    """Accepted late; there is no newer event of its key yet."""
    LATE_NOT_OVERWRITING = "late_not_overwriting"
    """Accepted and counted, but a newer event of its key takes precedence."""
    EXCEPTION = "exception"
    DROPPED = "dropped"
    """Reported as a gap in the sequence of its key."""
    RESOLVED = "resolved"
    """Resolves an exception or fills a gap of an earlier wave."""
    UPDATED = "updated"
    """Changes a result of an earlier wave."""


class Reason(StrEnum):
    """The class of a reconciliation exception; its key is the order."""

    MISSING = "missing"
    CONFLICT = "conflict"
    LATE = "late"
    DUPLICATE = "duplicate"
    IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class Mark:
    """A defect of a line, or of one that never arrives."""

    defect: str
    detail: str
    outcome: Outcome
    event_id: str
    order_id: str
    key: str
    rule: str | None = None
    field: str | None = None
    exception: Reason | None = None
    """The exception of the order; if the outcome is resolved, the exception that ends."""
    assertion: str | None = None
    """The claim that is missing or in conflict: order, payment, shipment or return."""
    resolved_in_wave: int | None = None
