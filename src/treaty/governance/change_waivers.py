"""Waivers of changes: which kinds of change may be set aside, and which changes of a version are."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.compatibility import KINDS, Verdict
from treaty.contracts.findings import Finding, Severity
from treaty.governance.waivers import Waiver


def may_waive(kind: str) -> bool:
    """Return whether a waiver may set a kind of change aside; checks, and what every mode refuses, cannot be waived."""
    known = KINDS.get(kind)
    return known is not None and not known.is_check and not known.always


def waived_changes(verdict: Verdict, in_force: Sequence[Waiver]) -> dict[tuple[str, str | None], str]:
    """Return the changes that waivers set aside, by kind and field, with who waived them and until when."""
    result: dict[tuple[str, str | None], str] = {}
    for item in verdict.judged if in_force else ():
        kind, path = item.change.kind, item.change.field
        finding = Finding(kind, Severity.ERROR, item.message, path)
        waiver = next((one for one in in_force if one.covers(finding, verdict.after.id)), None)
        if waiver is not None and may_waive(kind):
            result[kind, path] = f"waived by {waiver.owner} until {waiver.until}"
    return result
