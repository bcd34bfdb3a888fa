"""Converts verdicts and changes to plain data for JSON output and rendering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treaty.compatibility.judge import Judged, Verdict
from treaty.compatibility.renames import RenameSuggestion
from treaty.contracts.findings import Finding
from treaty.contracts.model import Contract
from treaty.contracts.values import thaw


def verdict_as_data(
    verdict: Verdict, findings: Sequence[Finding], renames: Sequence[RenameSuggestion] = ()
) -> dict[str, Any]:
    """Return a verdict as plain data, with located findings; the same version again is compatible."""
    same = verdict.is_unchanged
    return {
        "before": _contract(verdict.before),
        "after": _contract(verdict.after),
        "mode": verdict.mode.value,
        "semantics": verdict.semantics.value,
        "compatible": verdict.compatible or same,
        "admissible": verdict.admissible or same,
        "required_bump": str(verdict.required_bump),
        "declared_bump": None if verdict.declared_bump is None else str(verdict.declared_bump),
        "required_version": verdict.required_version,
        "changes": [_judged(item) for item in verdict.judged],
        "findings": [finding.as_data() for finding in findings],
        "suggested_renames": [
            {"before": one.before, "after": one.after, "confidence": one.confidence, "reasons": list(one.reasons)}
            for one in renames
        ],
    }


def _contract(contract: Contract | None) -> dict[str, Any] | None:
    return None if contract is None else {"id": contract.id, "version": contract.version}


def _judged(item: Judged) -> dict[str, Any]:
    return {
        "kind": item.change.kind,
        "path": item.change.path,
        "field": item.change.field,
        "direction": item.change.direction.value,
        "before": thaw(item.change.before),
        "after": thaw(item.change.after),
        "bump": str(item.grade.bump),
        "breaks": sorted(one.value for one in item.breaks),
        "severity": item.severity.value,
        "message": item.message,
    }
