"""What differs between two versions that are registered, and what that means."""

from __future__ import annotations

from treaty.compatibility import Verdict
from treaty.compatibility.serialization import verdict_as_data
from treaty.registry.answers import ChangeAnswer, DiffAnswer
from treaty.registry.report import report_on


def diff_answer(verdict: Verdict) -> DiffAnswer:
    """Return a verdict in the words of the API."""
    data = verdict_as_data(verdict, ())
    return DiffAnswer(
        contract=verdict.after.id,
        before=verdict.before.version if verdict.before else None,
        after=verdict.after.version,
        mode=verdict.mode.value,
        compatible=verdict.compatible,
        admissible=verdict.admissible,
        required_bump=str(verdict.required_bump),
        required_version=verdict.required_version,
        changes=[ChangeAnswer(**change) for change in data["changes"]],
        issues=report_on(verdict).issues,
    )
