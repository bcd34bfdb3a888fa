"""The checks of a review: compatibility, lint, policies, removal, and project waivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from treaty.compatibility import Change, Verdict, admit, diff, judge
from treaty.compatibility.judge import FurtherChanges, excuse
from treaty.compatibility.kinds import KINDS
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument
from treaty.governance.change_waivers import waived_changes
from treaty.governance.inheritance import find_weakened_terms
from treaty.governance.lifecycle import Status, parse_status
from treaty.governance.lint import Readers, lint
from treaty.governance.policy_chain import FoundPolicy, is_policy, with_defaults
from treaty.governance.waivers import Waived, apply_waivers
from treaty.review.branch import Document, DocumentPlaces, Rules, locate_in_branch
from treaty.review.pairing import Pair

_REMOVABLE_STATUSES = frozenset({Status.DRAFT, Status.RETIRED, Status.ARCHIVED})


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: findings, waived findings, and the number of findings that the base already had."""

    findings: tuple[Finding, ...] = ()
    waived: tuple[Waived, ...] = ()
    older: int = 0


def judge_pair(pair: Pair, rules: Rules, further: FurtherChanges | None = None) -> Verdict | None:
    """Judge a contract against its history in the base; None for a removed contract and a new foreign schema.

    `further` finds changes that depend on more than the two contracts.
    """
    before, after = pair.before, pair.after
    if after is None:
        return None
    if after.format is not None:
        return judge(diff(before.contract, after.contract), rules.mode, rules.grading) if before else None
    if before is not None and before.contract == after.contract:
        return judge(diff(before.contract, after.contract), rules.mode, rules.grading)
    history = [version.contract for version in pair.history]
    verdict = admit(history, after.contract, rules.mode, rules.grading, further=further)
    if is_lifecycle_step(verdict):
        return _without_version_checks(verdict)
    if verdict.admissible:
        return verdict
    in_force = [waiver for waiver in rules.lint.waivers if waiver.is_in_force(rules.today)]
    return excuse(verdict, waived_changes(verdict, in_force))


_LIFECYCLE_KINDS = frozenset({"deprecation_announced", "deprecation_withdrawn"})
_LIFECYCLE_SUBJECTS = frozenset({"status", "deprecation_uri"})
_VERSION_CHECKS = frozenset({"version_not_increasing", "version_bump_too_small"})


def is_lifecycle_step(verdict: Verdict) -> bool:
    """Return whether a version keeps everything but its status and deprecation; registering it again is a step."""
    is_same = verdict.before is not None and verdict.before.version == verdict.after.version
    return is_same and bool(verdict.judged) and all(_is_of_lifecycle(judged.change) for judged in verdict.judged)


def _is_of_lifecycle(change: Change) -> bool:
    is_status = change.field is None and change.subject in _LIFECYCLE_SUBJECTS
    return change.kind in _LIFECYCLE_KINDS or is_status


def _without_version_checks(verdict: Verdict) -> Verdict:
    checks = tuple(finding for finding in verdict.checks if finding.id not in _VERSION_CHECKS)
    return replace(verdict, checks=checks, required_version=verdict.after.version)


def check_compatibility(pair: Pair, verdict: Verdict, rules: Rules) -> CheckResult:
    """Return the findings of a verdict; errors become warnings if a new line with a migration plan allows them."""
    after = pair.after
    assert after is not None  # noqa: S101 - a removed contract has no verdict
    if verdict.is_unchanged:
        return CheckResult()
    findings = locate_in_branch(verdict, pair.before or after, after)
    if after.format is not None:  # a schema has no version, owner or plan; a waiver allows it to break
        changes = tuple(_schema_findings(verdict, findings))
        remaining, waived = apply_waivers(changes, after.contract.id, rules.lint.waivers, rules.today)
        return CheckResult(remaining, waived)
    if verdict.admissible:
        findings = tuple(replace(finding, severity=_at_most_warning(finding.severity)) for finding in findings)
    return CheckResult(findings)


def _schema_findings(verdict: Verdict, found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings of a schema without the checks of a version; a change that requires MAJOR is an error."""
    major = {(judged.change.kind, judged.change.field) for judged in verdict.judged if judged.grade.bump is Bump.MAJOR}
    for finding in found:
        if not KINDS[finding.id].is_check:
            yield replace(finding, severity=Severity.ERROR) if (finding.id, finding.path) in major else finding


def check_lint(pair: Pair, rules: Rules, policies: tuple[Contract, ...], readers: Readers | None) -> CheckResult:
    """Lint an effective contract, with the readers that the registry knows; findings of the base are only counted."""
    after = pair.after
    if after is None or after.format is not None:
        return CheckResult()
    report = lint(after.loaded, rules.lint, rules.today, readers, policies)
    known = {_what(finding) for finding in _lint_before(pair.before, rules, policies, readers)}
    fresh = tuple(finding for finding in report.findings if _what(finding) not in known)
    return CheckResult(fresh, report.waived, len(report.findings) - len(fresh))


def apply_project_waivers(findings: Iterable[Finding], contract: str, rules: Rules) -> CheckResult:
    """Split findings into those that remain and those that a waiver of the project covers."""
    return CheckResult(*apply_waivers(findings, contract, rules.lint.waivers, rules.today))


def removal_finding(before: Document) -> Finding:
    """Return the finding for a removed contract: an error, unless no consumer can depend on it."""
    contract = before.contract
    named = contract.line or contract.id
    message = f"{named} was removed from the repository"
    place = replace(DocumentPlaces(before).key("id"), source=before.path, line=None)
    if before.format is None and _status(contract) in _REMOVABLE_STATUSES:
        return Finding("contract_removed", Severity.INFO, message, place=place)
    if before.format is not None:
        return Finding("contract_removed", Severity.ERROR, message, place=place, hint="restore it, or add a waiver")
    message = f"{message} while its status is {contract.status or 'draft'}"
    hint = f"retire it first: treaty version deprecate {named}, then treaty version retire {named}; or restore the file"
    return Finding("contract_removed", Severity.ERROR, message, place=place, hint=hint)


def _lint_before(
    before: Document | None, rules: Rules, policies: tuple[Contract, ...], readers: Readers | None
) -> tuple[Finding, ...]:
    return () if before is None else lint(before.loaded, rules.lint, rules.today, readers, policies).findings


def _what(finding: Finding) -> tuple[str, str | None, str]:
    return finding.id, finding.path, finding.message


def _at_most_warning(severity: Severity) -> Severity:
    return Severity.WARNING if severity is Severity.ERROR else severity


def _status(contract: Contract) -> Status | None:
    try:
        return parse_status(contract.status)
    except InvalidDocument:
        return None


def policies_above(
    contract: Contract, policies: Mapping[str, FoundPolicy], rules: Rules
) -> tuple[tuple[Contract, ...], str | None]:
    """Return the policies of the repository that bind a contract, and the parent that is not among them, if any."""
    parents: dict[str, FoundPolicy] = {}
    parent = contract.treaty.parent
    while parent is not None and parent != contract.id and parent not in parents and parent in policies:
        parents[parent] = policies[parent]
        parent = policies[parent].contract.treaty.parent
    unknown = parent if parent is not None and parent not in policies else None
    return with_defaults(contract, parents, policies.get, rules.default_policies), unknown


def policy_findings(
    document: Document, policies: Mapping[str, FoundPolicy], rules: Rules, asks_registry: bool
) -> Iterator[Finding]:
    """Yield each term that weakens a policy, and a warning for an unknown policy."""
    spots = DocumentPlaces(document)
    above, unknown = policies_above(document.contract, policies, rules)
    if unknown is not None and not asks_registry:
        yield Finding(
            "policy_unknown",
            Severity.WARNING,
            f"the policy {unknown!r} is not in this repository, and no registry is configured",
            place=spots.key("parent"),
            hint="configure a registry that has it, or add the policy to the repository",
        )
    for policy in find_weakened_terms(document.contract, above):
        yield Finding(policy.kind, policy.severity, str(policy), policy.path, spots.of(policy.path))


def children_in_breach(
    policy: Document,
    before: Contract | None,
    documents: Iterable[Document],
    policies: Mapping[str, FoundPolicy],
    rules: Rules,
) -> Iterator[Finding]:
    """Yield a finding for each unchanged contract that newly violates a changed policy."""
    if not is_policy(policy.contract):
        return
    place = DocumentPlaces(policy).key("version")
    for document in documents:
        if not is_below(document.contract, policy.contract.id, policies, rules):
            continue
        known = {term.message for term in find_weakened_terms(document.contract, (before,))} if before else set()
        violations = [
            term.message
            for term in find_weakened_terms(document.contract, (policy.contract,))
            if term.message not in known
        ]
        if violations:
            child = f"{document.contract.id} {document.contract.version}"
            message = f"{child} would violate this policy{_from_when(policy.contract)}: {'; '.join(violations)}"
            hint = f"change {document.path} as well, or add a waiver"
            yield Finding("policy_breaks_child", Severity.WARNING, message, place=place, hint=hint)


def _from_when(policy: Contract) -> str:
    """Return from when a policy binds, if not from now."""
    text = " once it is active" if _status(policy) is Status.DRAFT else ""
    return f"{text} from {policy.treaty.effective_from}" if policy.treaty.effective_from else text


def is_below(contract: Contract, policy: str, policies: Mapping[str, FoundPolicy], rules: Rules) -> bool:
    """Return whether a contract inherits from a policy, through its parents or by default."""
    if policy in rules.default_policies.policies_for(contract.id, contract.domain) and contract.id != policy:
        return True
    parent, seen = contract.treaty.parent, {contract.id}
    while parent is not None and parent not in seen:
        if parent == policy:
            return True
        seen.add(parent)
        parent = policies[parent].contract.treaty.parent if parent in policies else None
    return False
