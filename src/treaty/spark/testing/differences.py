"""How data differ in schema from what the contract declares, in words about data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.judging import Judged
from treaty.contracts.findings import Severity
from treaty.contracts.values import brief, thaw
from treaty.spark.drift import Drift
from treaty.spark.rules import UnknownFields

_WEIGHTS = {UnknownFields.ALLOWED: Severity.INFO, UnknownFields.REFUSED: Severity.ERROR}


@dataclass(frozen=True)
class Difference:
    """One thing that is declared in one way and found in another, with the kind of change it would be."""

    field: str
    kind: str
    severity: Severity
    declared: Any
    found: Any
    says: str

    def as_data(self) -> dict[str, Any]:
        """Return the difference as JSON would say it."""
        return {
            "field": self.field or None,
            "kind": self.kind,
            "severity": self.severity.value,
            "declared": thaw(self.declared),
            "found": thaw(self.found),
            "says": self.says,
        }


def differences(drift: Drift, unknown_fields: UnknownFields | None = None) -> tuple[Difference, ...]:
    """Return the differences, the gravest first; fields the contract does not know weigh as the run says."""
    found = [_difference(item, unknown_fields) for item in drift.judged]
    return tuple(sorted(found, key=lambda item: (item.severity.rank, item.field, item.kind)))


def _difference(item: Judged, unknown_fields: UnknownFields | None) -> Difference:
    change = item.change
    severity = _WEIGHTS[unknown_fields] if unknown_fields is not None and _is_unknown(change) else item.severity
    return Difference(change.field or change.path, change.kind, severity, change.before, change.after, _says(item))


def _is_unknown(change: Change) -> bool:
    """Tell whether a difference is a field that the contract does not know."""
    return change.direction is Direction.ADDED and change.before is None


def _says(item: Judged) -> str:
    declared, found = brief(item.change.before), brief(item.change.after)
    if _is_unknown(item.change):
        return f"is in the data ({found}), but not in the contract"
    if item.change.direction is Direction.REMOVED and item.change.after is None:
        return f"is in the contract ({declared}), but not in the data"
    return f"is declared as {declared}, but the data have {found}"
