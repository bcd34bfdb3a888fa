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

_INSTEAD = "Instead: "
_RANK = {"error": 0, "warning": 1, "info": 2}
_LONGEST = 200


@dataclass(frozen=True)
class ChangeRow:
    """One change, as people ask about it."""

    kind: str
    severity: str
    where: str
    before: str
    after: str
    message: str
    breaks: tuple[str, ...]
    bump: str
    mend: str | None
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class IssueRow:
    """One thing that stands against a version as a whole."""

    kind: str
    severity: str
    where: str | None
    message: str
    mend: str | None


def change_rows(verdict: Verdict, impact: ImpactAnswer) -> tuple[ChangeRow, ...]:
    """Return every change, the gravest first."""
    readers = {one.name: frozenset(one.fields) for one in impact.having("hit", "unknown", "exposed")}
    rows = [_row(item, readers) for item in verdict.judged]
    return tuple(sorted(rows, key=lambda row: (_RANK[row.severity], row.where, row.kind)))


def issue_rows(report: CompatibilityReport, changes: Iterable[ChangeRow]) -> tuple[IssueRow, ...]:
    """Return what is said besides the changes."""
    said = {(row.kind, row.message) for row in changes}
    return tuple(
        IssueRow(one.kind, one.severity, one.field, one.message, instead(one.kind))
        for one in report.issues
        if (one.kind, one.message) not in said
    )


def instead(kind: str) -> str | None:
    """Return what the page of a kind advises."""
    known = KINDS.get(kind)
    paragraphs = known.page.split("\n\n") if known else []
    found = next((one for one in paragraphs if one.startswith(_INSTEAD)), None)
    if found is None:
        return None
    words = " ".join(found.removeprefix(_INSTEAD).split()).replace("`", "")
    return words[:1].upper() + words[1:]


def _row(item: JudgedChange, readers: dict[str, frozenset[str]]) -> ChangeRow:
    change = item.change
    hit = [name for name, fields in readers.items() if change.field is not None and change.field in fields]
    return ChangeRow(
        change.kind,
        item.severity.value,
        change.path or "the contract",
        _written(change.before),
        _written(change.after),
        item.message,
        tuple(BROKEN_PARTIES[one] for one in sorted(item.breaks)),
        str(item.grade.bump),
        instead(change.kind) if item.severity.value != "info" else None,
        tuple(hit),
    )


def _written(value: Any) -> str:
    return "—" if value is None else abbreviate(thaw(value))[:_LONGEST]


_SOURCE = "the contract"
_WEIGHT = {"hit": 0, "unknown": 1, "exposed": 2, "safe": 3}


@dataclass(frozen=True)
class Headline:
    """The verdict in one sentence, and how it looks."""

    state: str
    """healthy, warning, failing or none."""
    kind: str
    words: str
    next: str


@dataclass(frozen=True)
class CheckResult:
    """Everything the registry has to say to a contract."""

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
    lint: LintReport
    renames: Sequence[RenameSuggestion] = ()

    @property
    def hit(self) -> int:
        """How many consumers it hits, or may hit."""
        return sum(1 for one in self.affected if one.effect in ("hit", "unknown") and one.kind == "consumer")

    @property
    def remarks(self) -> tuple[Finding, ...]:
        """What lint found."""
        return self.lint.findings


def check_document(source: Source, content: bytes, mode: str | None, grading: Grading, today: date) -> CheckResult:
    """Judge a contract as registering it would, and keep nothing; raise InvalidDocument where it cannot be read."""
    if not content.strip():
        raise InvalidDocument("there is nothing to check; paste a contract or choose a file")
    reading, media = _read(content)
    prepared = prepare_reading(reading, media, content)
    report = source.check(prepared, compatibility=mode)
    impact = source.consumers.impact(prepared, compatibility=mode)
    decision = source.consumers.can_i_publish(prepared, compatibility=mode)
    before = _before(source, impact)
    verdict = _verdict(before, prepared.contract, report, grading)
    rows = change_rows(verdict, impact) if verdict else ()
    known = {issue.message for issue in report.issues}
    named = {one.name for one in impact.affected}  # each has a row of its own
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
            one
            for one in decision.reasons
            if one.message not in known and not any(one.message.startswith(f"{name} ") for name in named)
        ),
        tuple(sorted(impact.affected, key=lambda one: (_WEIGHT[one.effect], one.name))),
        impact.more,
        lint(parse(reading), LintSettings(), today),
        suggest_renames(before, prepared.contract) if before else (),
    )


def _read(content: bytes) -> tuple[ParsedDocument, str]:
    """Read a document; one that begins with a brace may be JSON or YAML."""
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        with suppress(InvalidDocument):
            return read_json(content, _SOURCE), JSON
    return read_document(content, _SOURCE), YAML


def _before(source: Source, impact: ImpactAnswer) -> Contract | None:
    if impact.before is None:
        return None
    document: dict[str, Any] = source.get(impact.contract, impact.before).document
    return contract_from(document, "the registry")


def _verdict(before: Contract | None, after: Contract, report: CompatibilityReport, grading: Grading) -> Verdict | None:
    """Judge the changes themselves, to have each with what it was before."""
    if before is None:
        return None
    return judge(diff(before, after), parse_mode(report.mode) if report.mode else DEFAULT_MODE, grading)


def _headline(
    report: CompatibilityReport, impact: ImpactAnswer, rows: tuple[ChangeRow, ...], decision: DecisionAnswer
) -> Headline:
    if impact.before is None:
        if report.admissible:
            return Headline("healthy", "good", "A new contract, and it may be registered", "Nobody reads it yet.")
        return Headline("failing", "bad", "A new contract that lacks something", "Mend what is listed below.")
    if not rows and impact.before == impact.after:
        words = f"Nothing changed: this is {impact.contract} {impact.before} as it is registered"
        return Headline("none", "", words, "Change something below, such as removing a field, and check again.")
    if report.admissible and decision.waits:
        words = "Breaking, and others have a say: it would be proposed first"
        return Headline("warning", "warn", words, "It is registered once everybody it waits for has spoken.")
    if report.admissible and report.compatible:
        return Headline("healthy", "good", "Compatible: it may be registered", "Nobody has to do anything.")
    if report.admissible:
        words = "Breaking, but with a plan: it may be registered as a new line"
        return Headline("warning", "warn", words, "Consumers move to the new line in their own time.")
    if report.compatible:
        return Headline("warning", "warn", "Compatible, but not as it is", "Mend what is listed below.")
    return Headline(
        "failing", "bad", "Breaking: it would be refused as it is", "See what breaks, whom, and how to mend it."
    )


_SHOWN = 25
_AROUND = 2
_LONGEST_LINE = 160


@dataclass(frozen=True)
class TextLine:
    """One line of what was pasted."""

    number: int
    text: str
    is_meant: bool


@dataclass(frozen=True)
class Problem:
    """One thing that cannot be read, and where."""

    message: str
    hint: str | None = None
    line: int | None = None
    excerpt: tuple[TextLine, ...] = ()


@dataclass(frozen=True)
class InvalidSubmission:
    """Everything that stands against reading a document."""

    troubles: tuple[Problem, ...]
    more: int = 0


def explain_invalid(error: InvalidDocument, text: str) -> InvalidSubmission:
    """Put each problem beside its line."""
    lines = text.split("\n")
    found = [_trouble(one, lines) for one in error.findings] or [Problem(str(error))]
    return InvalidSubmission(tuple(found[:_SHOWN]), max(0, len(found) - _SHOWN))


def _trouble(finding: Finding, lines: list[str]) -> Problem:
    number = finding.place.line if finding.place else None
    where = f"{finding.path}: " if finding.path and finding.path not in finding.message else ""
    return Problem(f"{where}{finding.message}", finding.hint, number, _excerpt(lines, number) if number else ())


def _excerpt(lines: list[str], number: int) -> tuple[TextLine, ...]:
    first, last = max(1, number - _AROUND), min(len(lines), number + _AROUND)
    return tuple(TextLine(one, lines[one - 1][:_LONGEST_LINE], one == number) for one in range(first, last + 1))


__all__ = [
    "CheckResult",
    "InvalidSubmission",
    "check_document",
    "explain_invalid",
]
