"""A verdict as people read it: what changed, whom it hits, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.catalog.formatting import BROKEN_PARTIES
from treaty.catalog.source import Source
from treaty.compatibility import KINDS, Grading, RenameSuggestion, Verdict, diff, judge, parse_mode, suggest_renames
from treaty.compatibility.judge import Judged as JudgedChange
from treaty.compatibility.modes import DEFAULT_MODE
from treaty.contracts.findings import Finding
from treaty.contracts.loader import contract_from, parse
from treaty.contracts.model import Contract
from treaty.contracts.text import ParsedDocument, read_document, read_json
from treaty.contracts.values import abbreviate, thaw
from treaty.errors import InvalidDocument
from treaty.governance.lint import LintReport, LintSettings, lint
from treaty.registry.documents import JSON, YAML, prepare_reading
from treaty.registry.model import AffectedAnswer, DecisionAnswer, ImpactAnswer, ReasonAnswer
from treaty.registry.report import CompatibilityReport

_FIX_PREFIX = "Instead: "
_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}
_MAX_VALUE_LENGTH = 200


@dataclass(frozen=True)
class ChangeRow:
    """A change in the table."""

    kind: str
    severity: str
    path: str
    before: str
    after: str
    message: str
    breaks: tuple[str, ...]
    bump: str
    fix: str | None
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class IssueRow:
    """A problem of the document that no change explains."""

    kind: str
    severity: str
    path: str | None
    message: str
    fix: str | None


def change_rows(verdict: Verdict, impact: ImpactAnswer) -> tuple[ChangeRow, ...]:
    """Return all changes, most severe first."""
    fields_by_consumer = {
        affected.name: frozenset(affected.fields) for affected in impact.having("hit", "unknown", "exposed")
    }
    rows = [_row(judged, fields_by_consumer) for judged in verdict.judged]
    return tuple(sorted(rows, key=lambda row: (_SEVERITY_ORDER[row.severity], row.path, row.kind)))


def issue_rows(report: CompatibilityReport, changes: Iterable[ChangeRow]) -> tuple[IssueRow, ...]:
    """Return the issues of a report that no change explains."""
    explained = {(row.kind, row.message) for row in changes}
    return tuple(
        IssueRow(issue.kind, issue.severity, issue.field, issue.message, suggested_fix(issue.kind))
        for issue in report.issues
        if (issue.kind, issue.message) not in explained
    )


def suggested_fix(kind: str) -> str | None:
    """Return the advice on the page of a kind, or None."""
    known = KINDS.get(kind)
    paragraphs = known.page.split("\n\n") if known else []
    advice = next((paragraph for paragraph in paragraphs if paragraph.startswith(_FIX_PREFIX)), None)
    if advice is None:
        return None
    text = " ".join(advice.removeprefix(_FIX_PREFIX).split()).replace("`", "")
    return text[:1].upper() + text[1:]


def _row(judged: JudgedChange, fields_by_consumer: dict[str, frozenset[str]]) -> ChangeRow:
    change = judged.change
    hit = [name for name, fields in fields_by_consumer.items() if change.field is not None and change.field in fields]
    return ChangeRow(
        change.kind,
        judged.severity.value,
        change.path or "contract",
        _format_value(change.before),
        _format_value(change.after),
        judged.message,
        tuple(BROKEN_PARTIES[party] for party in sorted(judged.breaks)),
        str(judged.grade.bump),
        suggested_fix(change.kind) if judged.severity.value != "info" else None,
        tuple(hit),
    )


def _format_value(value: Any) -> str:
    return "—" if value is None else abbreviate(thaw(value))[:_MAX_VALUE_LENGTH]


_SOURCE_NAME = "the contract"
_EFFECT_ORDER = {"hit": 0, "unknown": 1, "warned": 2, "exposed": 3, "safe": 4}


@dataclass(frozen=True)
class Headline:
    """The result in one sentence and the next step."""

    state: str
    """healthy, warning, failing or none."""
    kind: str
    text: str
    next_step: str


@dataclass(frozen=True)
class CheckResult:
    """Result of checking a contract."""

    headline: Headline
    contract: str
    version: str
    before: str | None
    report: CompatibilityReport
    required: str | None
    changes: tuple[ChangeRow, ...]
    issues: tuple[IssueRow, ...]
    reasons: tuple[ReasonAnswer, ...]
    affected: tuple[AffectedAnswer, ...]
    more: int
    hidden: int
    lint: LintReport
    renames: Sequence[RenameSuggestion] = ()

    @property
    def consumers_affected(self) -> int:
        """Number of consumers that are or may be affected."""
        return sum(
            1 for affected in self.affected if affected.effect in ("hit", "unknown") and affected.kind == "consumer"
        )

    @property
    def lint_findings(self) -> tuple[Finding, ...]:
        """Findings of the linter."""
        return self.lint.findings


def check_document(source: Source, content: bytes, mode: str | None, grading: Grading, today: date) -> CheckResult:
    """Check a contract as registration would, without storing it. Raises InvalidDocument if it is not valid."""
    if not content.strip():
        raise InvalidDocument("paste a contract or choose a file")
    reading, media = _read(content)
    prepared = prepare_reading(reading, media, content)
    report = source.check(prepared, compatibility=mode)
    impact = source.consumers.impact(prepared, compatibility=mode)
    decision = source.consumers.can_i_publish(prepared, compatibility=mode)
    before = _before(source, impact)
    verdict = _verdict(before, prepared.contract, report, grading)
    rows = change_rows(verdict, impact) if verdict else ()
    known = {issue.message for issue in report.issues}
    named = {affected.name for affected in impact.affected}  # they have their own rows
    return CheckResult(
        _headline(report, impact, rows, decision),
        prepared.contract.id,
        prepared.contract.version,
        impact.before,
        report,
        report.required_version or impact.required_version,
        rows,
        issue_rows(report, rows),
        tuple(
            reason
            for reason in decision.reasons
            if reason.message not in known and not any(reason.message.startswith(f"{name} ") for name in named)
        ),
        tuple(sorted(impact.affected, key=lambda affected: (_EFFECT_ORDER[affected.effect], affected.name))),
        impact.more,
        impact.hidden,
        lint(parse(reading), LintSettings(), today),
        suggest_renames(before, prepared.contract) if before else (),
    )


def _read(content: bytes) -> tuple[ParsedDocument, str]:
    """Parse a document. One that begins with a brace can be JSON or YAML."""
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        with suppress(InvalidDocument):
            return read_json(content, _SOURCE_NAME), JSON
    return read_document(content, _SOURCE_NAME), YAML


def _before(source: Source, impact: ImpactAnswer) -> Contract | None:
    if impact.before is None:
        return None
    document: dict[str, Any] = source.get(impact.contract, impact.before).document
    return contract_from(document, "the registry")


def _verdict(before: Contract | None, after: Contract, report: CompatibilityReport, grading: Grading) -> Verdict | None:
    """Judge the changes again, because the report lacks their previous values."""
    if before is None:
        return None
    return judge(diff(before, after), parse_mode(report.mode) if report.mode else DEFAULT_MODE, grading)


def _headline(
    report: CompatibilityReport, impact: ImpactAnswer, rows: tuple[ChangeRow, ...], decision: DecisionAnswer
) -> Headline:
    if impact.before is None:
        if report.admissible:
            return Headline("healthy", "good", "New contract, can be registered", "It has no consumers yet.")
        return Headline("failing", "bad", "New contract with problems", "Fix the problems below.")
    if not rows and impact.before == impact.after:
        text = f"No changes: this is {impact.contract} {impact.before} as registered"
        return Headline("none", "", text, "Edit the contract below, for example remove a field, and check again.")
    if report.admissible and decision.waits:
        text = "Breaking: it would be proposed for approval"
        return Headline("warning", "warn", text, "It is registered after all required approvals and acknowledgements.")
    if report.admissible and report.compatible and all(row.bump != "MAJOR" for row in rows):
        return Headline("healthy", "good", "Compatible: can be registered", "Consumers do not have to do anything.")
    if report.admissible:
        text = "Breaking, with a migration plan: can be registered as a new line"
        return Headline("warning", "warn", text, "Consumers get time to move to the new line.")
    if report.compatible:
        return Headline("warning", "warn", "Compatible, but with problems", "Fix the problems below.")
    return Headline("failing", "bad", "Breaking: cannot be registered", "See below what breaks and how to fix it.")


_MAX_PROBLEMS = 25
_CONTEXT_LINES = 2
_MAX_LINE_LENGTH = 160


@dataclass(frozen=True)
class TextLine:
    """A line of the submitted text."""

    number: int
    text: str
    is_marked: bool


@dataclass(frozen=True)
class Problem:
    """A problem with the document, with an excerpt around its line."""

    message: str
    hint: str | None = None
    line: int | None = None
    excerpt: tuple[TextLine, ...] = ()


@dataclass(frozen=True)
class InvalidSubmission:
    """Problems of a document that is not a valid contract."""

    problems: tuple[Problem, ...]
    more: int = 0


def explain_invalid(error: InvalidDocument, text: str) -> InvalidSubmission:
    """Return the problems of a document with excerpts."""
    lines = text.split("\n")
    problems = [_problem(finding, lines) for finding in error.findings] or [Problem(str(error))]
    return InvalidSubmission(tuple(problems[:_MAX_PROBLEMS]), max(0, len(problems) - _MAX_PROBLEMS))


def _problem(finding: Finding, lines: list[str]) -> Problem:
    number = finding.place.line if finding.place else None
    where = f"{finding.path}: " if finding.path and finding.path not in finding.message else ""
    return Problem(f"{where}{finding.message}", finding.hint, number, _excerpt(lines, number) if number else ())


def _excerpt(lines: list[str], number: int) -> tuple[TextLine, ...]:
    first, last = max(1, number - _CONTEXT_LINES), min(len(lines), number + _CONTEXT_LINES)
    return tuple(TextLine(one, lines[one - 1][:_MAX_LINE_LENGTH], one == number) for one in range(first, last + 1))


__all__ = [
    "CheckResult",
    "InvalidSubmission",
    "check_document",
    "explain_invalid",
]
