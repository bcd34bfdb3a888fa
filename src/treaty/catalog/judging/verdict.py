"""The verdict on a contract that somebody would like to register."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.catalog.judging.rows import ChangeRow, IssueRow, change_rows, issue_rows
from treaty.catalog.sources import Source
from treaty.compatibility import Grading, RenameSuggestion, Verdict, diff, judge, parse_mode, suggest_renames
from treaty.compatibility.modes import DEFAULT_MODE
from treaty.contracts.findings import Finding
from treaty.contracts.loading import contract_from, parse
from treaty.contracts.model import Contract
from treaty.contracts.reading import Reading, read_document, read_json
from treaty.errors import InvalidDocument
from treaty.governance.lint import LintReport, LintSettings, lint
from treaty.registry.answers import AffectedAnswer, DecisionAnswer, ImpactAnswer, ReasonAnswer
from treaty.registry.preparing import JSON, YAML, prepare_reading
from treaty.registry.report import CompatibilityReport

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
class Judged:
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


def judged(source: Source, content: bytes, mode: str | None, grading: Grading, today: date) -> Judged:
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
    return Judged(
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


def _read(content: bytes) -> tuple[Reading, str]:
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
