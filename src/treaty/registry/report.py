"""The compatibility report of the API."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from treaty.compatibility.judge import Verdict
from treaty.contracts.findings import Severity
from treaty.errors import Refused


class CompatibilityIssue(BaseModel):
    """An error that blocks a version, or a warning."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    severity: Literal["error", "warning"]
    field: str | None = Field(default=None, examples=["ltv"])
    kind: str = Field(examples=["field_removed"])
    message: str = Field(examples=["field 'ltv' was removed; old data will fail validation"])


class CompatibilityReport(BaseModel):
    """Whether a version is compatible with the registered ones, with all issues.

    `admissible`: it may be registered, as it is compatible, or breaking in a new line with a migration plan.
    Both it and `required_version` stay out of the JSON, whose shape is fixed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    compatible: bool
    mode: str = Field(examples=["backward"])
    issues: list[CompatibilityIssue]
    admissible: bool = Field(default=True, exclude=True)
    required_version: str | None = Field(default=None, exclude=True)

    @property
    def errors(self) -> list[CompatibilityIssue]:
        """The issues that block registration."""
        return [issue for issue in self.issues if issue.severity == "error"]

    @property
    def warnings(self) -> list[CompatibilityIssue]:
        """The issues that do not block registration."""
        return [issue for issue in self.issues if issue.severity == "warning"]


class VersionRefused(Refused):
    """A version that may not be registered; the report has the reasons."""

    def __init__(self, subject: str, report: CompatibilityReport) -> None:
        reasons = [f"{issue.kind}: {issue.message}" for issue in report.errors]
        super().__init__(f"{subject} is refused under {report.mode}\n" + "\n".join(reasons))
        self.report = report


def report_on(verdict: Verdict, more: Iterable[CompatibilityIssue] = ()) -> CompatibilityReport:
    """Return the report of a verdict, with further issues."""
    further = list(more)
    if not further and not verdict.findings:
        return _report_without_issues(str(verdict.mode), verdict.required_version)
    issues = [
        CompatibilityIssue(
            severity="error" if finding.severity is Severity.ERROR else "warning",
            field=finding.path,
            kind=finding.id,
            message=finding.message,
        )
        for finding in verdict.findings
    ]
    blocked = any(issue.severity == "error" for issue in further)
    return CompatibilityReport(
        compatible=not verdict.errors and not blocked,
        mode=verdict.mode.value,
        issues=sorted(issues + further, key=lambda issue: issue.severity),  # errors first
        admissible=verdict.admissible and not blocked,
        required_version=verdict.required_version,
    )


@lru_cache(1_000)
def _report_without_issues(mode: str, required_version: str | None) -> CompatibilityReport:
    return CompatibilityReport(compatible=True, mode=mode, issues=[], required_version=required_version)
