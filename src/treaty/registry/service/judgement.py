"""Judge a candidate against its history, its policies and its life cycle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from treaty.compatibility import Mode, Verdict, admit
from treaty.compatibility.judge import effective_mode
from treaty.compatibility.serialization import verdict_as_data
from treaty.contracts.blocks import Deprecation
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument, Refused
from treaty.governance.inheritance import Violation, ancestors, find_weakened_terms, is_policy
from treaty.governance.lifecycle import Status, Timetable, line_status, timetable
from treaty.governance.waivers import Waiver
from treaty.registry.documents import PreparedDocument
from treaty.registry.model import ChangeAnswer, DiffAnswer
from treaty.registry.report import CompatibilityIssue, CompatibilityReport, report_on
from treaty.registry.rules import RegistryRules
from treaty.registry.store import Connection, governance_records, search, versions
from treaty.registry.store.versions import StoredVersion

_GONE = frozenset({Status.RETIRED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class WeakenedTerm:
    """A violation, and the waiver that covers it, if any."""

    violation: Violation
    waiver: Waiver | None

    @property
    def stands(self) -> bool:
        """Whether no waiver covers it."""
        return self.waiver is None


@dataclass(frozen=True, slots=True)
class Child:
    """A contract below a policy, with its violations."""

    contract: str
    version: str
    teams: frozenset[str]
    violations: tuple[Violation, ...]


def policies_above(connection: Connection, contract: Contract) -> tuple[Contract, ...]:
    """Return the policies a contract inherits from, nearest first; a parent that is missing or no policy is refused."""
    parent = contract.treaty.parent
    if parent is None:
        return ()
    result: dict[str, Contract] = {}
    while parent is not None and parent not in result and parent != contract.id:
        policy = in_force(connection, parent)
        if policy is None:
            break
        if not is_policy(policy):
            raise InvalidDocument(f"{contract.id} inherits from {parent!r}, which is no policy; its tier says so")
        result[parent] = policy
        parent = policy.treaty.parent
    return ancestors(contract, result)


def in_force(connection: Connection, name: str) -> Contract | None:
    """Return the version of a contract that binds: the highest active one, else the highest that is not gone."""
    registered = versions.list_versions(connection, name)
    active = [version for version in registered if version.status is Status.ACTIVE]
    binding = active or [version for version in registered if version.status not in _GONE]
    return versions.contract_of(connection, binding[0]) if binding else None


def weakened_terms(
    connection: Connection, contract: Contract, policies: tuple[Contract, ...], today: date
) -> list[WeakenedTerm]:
    """Return every term that is weaker than a policy allows, each with its waiver."""
    violations = find_weakened_terms(contract, policies)
    if not violations:
        return []
    in_place = governance_records.waivers_in_force(connection, today)
    return [WeakenedTerm(violation, _waiver_for(violation, contract.id, in_place)) for violation in violations]


def children_in_breach(connection: Connection, policy: Contract) -> list[Child]:
    """Return the contracts below a policy, at any depth, that violate it."""
    return [child for child in _children(connection, policy) if child.violations]


def _children(connection: Connection, policy: Contract) -> Iterator[Child]:
    if not is_policy(policy):
        return
    seen = {policy.id}
    pending = [policy.id]
    while pending:
        for name in search.children_of(connection, pending.pop()):
            if name in seen:
                continue
            seen.add(name)
            pending.append(name)
            for line in _live_heads(connection, name):
                child = versions.contract_of(connection, line)
                yield Child(name, line.version, line.teams, find_weakened_terms(child, (policy,)))


def _live_heads(connection: Connection, name: str) -> list[versions.StoredVersion]:
    """Return the highest version of each line that is still in use."""
    heads: dict[int, versions.StoredVersion] = {}
    for version in versions.list_versions(connection, name):
        if version.status not in _GONE:
            heads.setdefault(version.major, version)
    return list(heads.values())


def _waiver_for(violation: Violation, contract: str, in_place: list[Waiver]) -> Waiver | None:
    finding = Finding(violation.kind, Severity.ERROR, violation.message, violation.path)
    return next((waiver for waiver in in_place if waiver.covers(finding, contract)), None)


_LEAVING = frozenset({Status.DEPRECATED, Status.SUNSET})
_ENDED = frozenset({Status.SUNSET, Status.RETIRED})
_LEFT = _ENDED | {Status.ARCHIVED}


@dataclass(frozen=True)
class Judgement:
    """The result of judging a candidate."""

    candidate: PreparedDocument
    before: StoredVersion | None
    verdict: Verdict
    held: tuple[WeakenedTerm, ...]
    children: tuple[Child, ...]
    days: Timetable | None
    too_soon: str | None
    ended: str | None

    @property
    def admissible(self) -> bool:
        """Whether the candidate may be registered."""
        return self.report.admissible

    @property
    def breaks_consumers(self) -> bool:
        """Whether consumers must act, whatever the mode or a migration plan allows."""
        return any(change.grade.bump is Bump.MAJOR for change in self.verdict.judged)

    @lazy
    def report(self) -> CompatibilityReport:
        """The judgement as a report of the API."""
        return report_on(self.verdict, self._more_issues())

    def _more_issues(self) -> Iterator[CompatibilityIssue]:
        if self.candidate.contract.treaty.tier == "edge" and self.candidate.contract.treaty.expires is None:
            message = "an edge contract needs an end; add expires: with a date"
            yield CompatibilityIssue(severity="error", field=None, kind="expiry_missing", message=message)
        if self.ended:
            yield CompatibilityIssue(severity="error", field=None, kind="line_ended", message=self.ended)
        if self.too_soon:
            yield CompatibilityIssue(severity="error", field=None, kind="sunset_too_soon", message=self.too_soon)
        for term in self.held:
            violation, waiver = term.violation, term.waiver
            text = f"{violation}; waived by {waiver.owner} until {waiver.until}" if waiver else str(violation)
            severity: Literal["error", "warning"] = "warning" if waiver else "error"
            yield CompatibilityIssue(severity=severity, field=violation.path, kind=violation.kind, message=text)
        for child in self.children:
            text = "; ".join(violation.message for violation in child.violations)
            message = f"{child.contract} {child.version} would violate this policy: {text}"
            yield CompatibilityIssue(severity="warning", field=None, kind="policy_breaks_child", message=message)


def judge(
    connection: Connection, rules: RegistryRules, candidate: PreparedDocument, mode: Mode, today: date
) -> Judgement:
    """Judge a candidate as registration does, without storing anything."""
    contract = candidate.contract
    version = contract.semantic_version
    before = versions.predecessor(connection, contract.id, version.major if version else -1)
    verdict = admit(_history(connection, candidate, before, mode), contract, mode, rules.grading)
    policies = policies_above(connection, contract)
    held = tuple(weakened_terms(connection, contract, policies, today)) if policies else ()
    children = tuple(children_in_breach(connection, contract))
    days, too_soon = _days(candidate, rules, today)
    ended = _ended(connection, candidate, before)
    return Judgement(candidate, before, verdict, held, children, days, too_soon, ended)


def _history(
    connection: Connection, candidate: PreparedDocument, before: StoredVersion | None, mode: Mode
) -> list[Contract]:
    """Return the contracts to judge the candidate against: its predecessor, or all versions of the line."""
    if before is None:
        return []
    predecessor = versions.contract_of(connection, before)
    if not effective_mode(mode, predecessor, candidate.contract).is_transitive:
        return [predecessor]
    return [versions.contract_of(connection, version) for version in versions.versions_in_line(connection, before.line)]


def _ended(connection: Connection, candidate: PreparedDocument, before: StoredVersion | None) -> str | None:
    """Return why a line takes no new versions: it is in sunset or retired."""
    if before is None or before.status not in _LEFT or before.line != candidate.line:
        return None
    status = line_status([version.status for version in versions.versions_in_line(connection, before.line)])
    return f"the line {before.line} is {status}; open a new one" if status in _ENDED else None


def _days(candidate: PreparedDocument, rules: RegistryRules, today: date) -> tuple[Timetable | None, str | None]:
    """Compute the dates of a deprecation that the document declares, announced today at the earliest."""
    notice = candidate.contract.treaty.deprecation
    announces = notice is not None and (notice.announced or notice.sunset_date)
    if candidate.status not in _LEAVING and not announces:
        return None, None
    notice = notice or Deprecation()
    announced = max(notice.announced or "", today.isoformat())
    try:
        return timetable(replace(notice, announced=announced), today, rules.periods), None
    except Refused as refusal:
        return None, str(refusal)


def diff_answer(verdict: Verdict) -> DiffAnswer:
    """Return the API model of a verdict."""
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
