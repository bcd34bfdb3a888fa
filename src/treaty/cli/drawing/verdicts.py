"""A verdict in words: what it says, whom changes break, which version they need, how to go on."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.compatibility import Breaks, Judged, Plan, RenameSuggestion, Verdict
from treaty.compatibility.kinds import checks
from treaty.contracts import Bump, Severity

Renames = tuple[RenameSuggestion, ...]
BROKEN = {Breaks.EXISTING_DATA: "existing data", Breaks.EXISTING_READERS: "existing readers"}
HEADINGS = {
    Severity.ERROR: "Breaking",
    Severity.WARNING: "To look at",
    Severity.INFO: "Compatible",
}


def is_fine(verdict: Verdict) -> bool:
    """Tell whether nothing stands against the change."""
    return verdict.admissible or verdict.is_unchanged


def whom(item: Judged) -> str:
    """Say whom a change breaks."""
    if not item.breaks:
        return "consumers must act" if item.grade.bump is Bump.MAJOR else ""
    return "breaks " + " and ".join(BROKEN[one] for one in sorted(item.breaks))


def outcome(verdict: Verdict) -> str:
    """Say the verdict in one line."""
    if not verdict.judged:
        return "no change" if is_fine(verdict) else "no change, and refused"
    compatible = f"compatible under {verdict.mode.value}"
    if verdict.admissible:
        planned = f"not {compatible}; admissible as a new line with its migration plan"
        return compatible if verdict.compatible else planned
    if any(item.severity is Severity.ERROR for item in verdict.judged):
        return f"not {compatible}; refused"
    too_small = checks.version_bump_too_small.id in {finding.id for finding in verdict.errors}
    return f"{compatible}, but refused: " + ("the version is too small" if too_small else "a check failed")


PLAN_STEPS = {
    Plan.MISSING: "add a migration: block (guide, window, owner): the new line then runs beside the old one",
    Plan.EARLIER: "the migration: block is the plan of the line before; write one of its own (guide, window, owner)",
}
"""What to do for a plan that a new line lacks."""


def version_said(verdict: Verdict) -> str | None:
    """Say which version is needed and which is declared, if a version is in question."""
    if not verdict.judged or verdict.required_version is None:
        return None
    declared = verdict.after.version
    if verdict.declared_bump is not None and verdict.declared_bump >= max(verdict.required_bump, Bump.PATCH):
        return (
            f"{declared} is enough: these changes ask for {verdict.required_bump} (at least {verdict.required_version})"
        )
    return f"these changes need {verdict.required_version} ({verdict.required_bump}); {declared} is declared"


def next_steps(verdict: Verdict, renames: Renames) -> Iterator[str]:
    """Yield how to go on, in the order one would do it."""
    if not verdict.judged:
        return
    if renames:
        yield "if a rename is meant, give both fields the same id; then the old shape can be served from the new data"
    enough = verdict.declared_bump is not None and verdict.declared_bump >= verdict.required_bump
    if verdict.required_version is None:
        yield "give both versions as MAJOR.MINOR.PATCH"
    elif not enough:
        yield f"set version: {verdict.required_version}"
    if verdict.required_bump is Bump.MAJOR and verdict.plan in PLAN_STEPS:
        yield PLAN_STEPS[verdict.plan]
    if verdict.required_bump is Bump.MAJOR:
        yield "the way over, for each consumer and as views: treaty migrate plan BEFORE AFTER"
    if not verdict.admissible:
        breaking = next((item for item in verdict.judged if item.severity is Severity.ERROR), None)
        if breaking is not None:
            yield f"why, and what to do instead: treaty kinds {breaking.change.kind}"
